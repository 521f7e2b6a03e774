// Row ↔ core codec of sealed_chunk: packed columns (lib/core/packed), short codes instead of 63-bit ids, calls as one
// byte string a request.

import { ByteReader, ByteWriter } from '../core/bytes';
import { numbersOf, packNumbers, packTexts, textsOf } from '../core/packed';
import type { Call, Dimensions, TimedRequest } from '../core/request';
import { CACHES, CONNECTIONS, MEASURED_TERMS, OUTCOMES } from '../core/terms';
import { attributeSetId, seriesId } from './series';

type Attributes = Readonly<Record<string, string>>;
/** Short numbers of series and attribute sets by their id (decimal text). */
export type Codes = { series: ReadonlyMap<string, number>; attributeSets: ReadonlyMap<string, number> };
/** What the codes of a chunk mean. Attribute sets may be left out: attributes then come back null. */
export type Decoded = {
  series: ReadonlyMap<number, Dimensions>;
  attributeSets?: ReadonlyMap<number, Attributes>;
};

const codeIn = (list: readonly string[], value: string | null) => (value === null ? null : list.indexOf(value));
const snake = (name: string) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/** Packed number columns that are a plain field of the request. */
const FIELDS: readonly { name: string; of: (r: TimedRequest) => number | null }[] = [
  { name: 'started_at', of: (r) => r.startedAtUs },
  { name: 'outcome', of: (r) => OUTCOMES.indexOf(r.outcome) },
  { name: 'e2e', of: (r) => r.e2eUs },
  { name: 'ttft', of: (r) => r.ttftUs },
  ...MEASURED_TERMS.map((term, i) => ({ name: snake(term), of: (r: TimedRequest) => r.terms[i] ?? null })),
  { name: 'service', of: (r) => r.serviceUs },
  { name: 'connection_kind', of: (r) => codeIn(CONNECTIONS, r.connection) },
  { name: 'round_trips', of: (r) => r.roundTrips },
  { name: 'rtt', of: (r) => r.rttUs },
  { name: 'input_tokens', of: (r) => r.inputTokens },
  { name: 'output_tokens', of: (r) => r.outputTokens },
  { name: 'cached_input_tokens', of: (r) => r.cachedInputTokens },
  { name: 'in_flight', of: (r) => r.inFlight },
  { name: 'cache', of: (r) => codeIn(CACHES, r.cache) },
];
const TEXTS = [
  { packed: 'ids', plain: 'id_texts', of: (r: TimedRequest): string | null => r.id },
  { packed: 'trace_ids', plain: 'trace_texts', of: (r: TimedRequest) => r.traceId },
  { packed: 'session_ids', plain: 'session_texts', of: (r: TimedRequest) => r.sessionId },
] as const;
const DERIVED = ['series', 'evidence', 'decode', 'weight', 'attribute_set', 'call_count', 'call_ends'] as const;

/** All packed number columns. */
export const PACKED_NUMBERS: readonly string[] = [...FIELDS.map((f) => f.name), ...DERIVED];
export const PACKED_TEXTS: readonly { packed: string; plain: string }[] = TEXTS;
/** Columns that one value serves for the whole chunk. */
export const WHOLE_COLUMNS = ['evidence_values', 'decode_told', 'call_texts'] as const;

/** Every column that holds requests, as stored (Uint8Array: bytea). */
export type SealedColumns = Record<string, Uint8Array | (string | null)[] | (number | null)[] | boolean | null>;
export type SealedRow = { n: number } & Record<string, unknown>;

const CALL_TEXTS = ['stage', 'provider', 'model', 'modelRegion'] as const;
const CALL_NUMBERS = [
  ...(['startOffsetUs', 'durationUs', 'ttftUs', 'hopUs', 'providerQueueUs', 'modelUs', 'attempts'] as const),
  ...(['inputTokens', 'outputTokens'] as const),
];

function encodeCalls(requests: readonly TimedRequest[]): SealedColumns {
  if (requests.every((r) => r.calls.length === 0)) {
    return { call_count: null, call_ends: null, calls: null, call_texts: null };
  }
  const texts = new Map<string, number>();
  const placeOf = (text: string | null) => {
    if (text === null) return null;
    if (!texts.has(text)) texts.set(text, texts.size);
    return texts.get(text)!;
  };
  let end = 0;
  const bodies: Uint8Array[] = [];
  const ends = requests.map((request) => {
    if (request.calls.length === 0) return end;
    const writer = new ByteWriter();
    for (const call of request.calls) {
      for (const field of CALL_TEXTS) writer.optional(placeOf(call[field]));
      for (const field of CALL_NUMBERS) writer.optional(call[field]);
    }
    bodies.push(writer.bytes());
    end += bodies.at(-1)!.length;
    return end;
  });
  return {
    call_count: packNumbers(requests.map((r) => (r.calls.length === 0 ? null : r.calls.length))),
    call_ends: packNumbers(ends),
    calls: Buffer.concat(bodies),
    call_texts: [...texts.keys()],
  };
}

function decodeCalls(bytes: Uint8Array, count: number, texts: readonly string[]): Call[] {
  const reader = new ByteReader(bytes);
  return Array.from({ length: count }, () => {
    const text = () => {
      const place = reader.optional();
      return place === null ? null : texts[place]!;
    };
    const names = Object.fromEntries(CALL_TEXTS.map((field) => [field, text()]));
    const numbers = Object.fromEntries(CALL_NUMBERS.map((field) => [field, reader.optional()]));
    return { ...names, ...numbers } as Call;
  });
}

/** Requests (at least one, in the order they are stored) → columns. Throws when a series or attribute set has no code. */
export function encodeSealed(requests: readonly TimedRequest[], codes: Codes): SealedColumns {
  const columns: SealedColumns = {};
  for (const { name, of } of FIELDS) columns[name] = packNumbers(requests.map(of));
  for (const { packed, plain, of } of TEXTS) {
    const texts = requests.map(of);
    const isEmpty = texts.every((text) => text === null);
    columns[packed] = isEmpty ? null : packTexts(texts);
    columns[plain] = isEmpty || columns[packed] !== null ? null : texts;
  }
  const codeOf = (map: ReadonlyMap<string, number>, id: string) => {
    const code = map.get(id);
    if (code === undefined) throw new Error(`no code for ${id}: give it one before sealing`);
    return code;
  };
  columns.series = packNumbers(requests.map((r) => codeOf(codes.series, seriesId(r.dims))));
  columns.attribute_set = packNumbers(
    requests.map((r) => (r.attributes === null ? null : codeOf(codes.attributeSets, attributeSetId(r.attributes)))),
  );
  const evidences = [...new Set(requests.map((r) => r.evidence))].sort((a, b) => a - b);
  const places = new Map(evidences.map((evidence, i) => [evidence, i]));
  columns.evidence = packNumbers(requests.map((r) => places.get(r.evidence)!));
  columns.evidence_values = evidences;
  const isImplied = (r: TimedRequest) => r.ttftUs === null || r.decodeUs === r.e2eUs - r.ttftUs;
  const told = !requests.every(isImplied);
  columns.decode_told = told;
  columns.decode = packNumbers(requests.map((r) => (r.ttftUs === null || told ? r.decodeUs : null)));
  columns.weight = requests.every((r) => r.weight === 1) ? null : packNumbers(requests.map((r) => r.weight));
  columns.quality = requests.every((r) => r.quality === null) ? null : requests.map((r) => r.quality);
  return Object.assign(columns, encodeCalls(requests));
}

/** The codes a row refers to. */
export function codesOf(row: SealedRow): { series: number[]; attributeSets: number[] } {
  const distinct = (name: string) => {
    const at = numbersOf(row[name] as Uint8Array | null);
    const seen = new Set<number>();
    for (let i = 0; i < row.n; i++) {
      const code = at(i);
      if (code !== null) seen.add(code);
    }
    return [...seen];
  };
  return { series: distinct('series'), attributeSets: distinct('attribute_set') };
}

function textColumn(row: SealedRow, names: { packed: string; plain: string }): (i: number) => string | null {
  const packed = row[names.packed] as Uint8Array | null;
  if (packed !== null) return textsOf(packed);
  const plain = row[names.plain] as (string | null)[] | null;
  return (i) => plain?.[i] ?? null;
}

/** The `i`-th request (from 0) of a row. Throws when a series is not in the map. */
export function decodeSealed(row: SealedRow, meaning: Decoded): (i: number) => TimedRequest {
  const at = Object.fromEntries(PACKED_NUMBERS.map((name) => [name, numbersOf(row[name] as Uint8Array | null)]));
  const [id, traceId, sessionId] = TEXTS.map((names) => textColumn(row, names));
  const terms = MEASURED_TERMS.map((term) => at[snake(term)]!);
  const evidences = row.evidence_values as number[];
  const quality = row.quality as (number | null)[] | null;
  const calls = row.calls as Uint8Array | null;
  return (i) => {
    const code = at.series!(i)!;
    const dims = meaning.series.get(code);
    if (!dims) throw new Error(`series with code ${code} is not in the map: load every code of codesOf(row)`);
    const [e2eUs, ttftUs, count] = [at.e2e!(i)!, at.ttft!(i), at.call_count!(i) ?? 0];
    const set = at.attribute_set!(i);
    const callsFrom = i === 0 ? 0 : (at.call_ends!(i - 1) ?? 0);
    return {
      id: id!(i)!,
      startedAtUs: at.started_at!(i)!,
      dims,
      outcome: OUTCOMES[at.outcome!(i)!]!,
      e2eUs,
      ttftUs,
      terms: terms.map((term) => term(i)),
      evidence: evidences[at.evidence!(i)!]!,
      decodeUs: row.decode_told || ttftUs === null ? at.decode!(i) : e2eUs - ttftUs,
      serviceUs: at.service!(i),
      connection: CONNECTIONS[at.connection_kind!(i) ?? -1] ?? null,
      roundTrips: at.round_trips!(i),
      rttUs: at.rtt!(i),
      calls: count === 0 ? [] : decodeCalls(calls!.subarray(callsFrom), count, row.call_texts as string[]),
      inputTokens: at.input_tokens!(i),
      outputTokens: at.output_tokens!(i),
      cachedInputTokens: at.cached_input_tokens!(i),
      inFlight: at.in_flight!(i),
      cache: CACHES[at.cache!(i) ?? -1] ?? null,
      quality: quality?.[i] ?? null,
      weight: at.weight!(i) ?? 1,
      traceId: traceId!(i),
      sessionId: sessionId!(i),
      attributes: set === null ? null : (meaning.attributeSets?.get(set) ?? null),
    };
  };
}
