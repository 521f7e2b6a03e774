// Row ↔ core codec of hot_chunk: one column an array, one element a request; calls flattened with call_count.
//
// Written and read as binary arrays: as JSON the server took three times as long to write them out as to send them.
// 63-bit ids are read as text; all other integers stay below 2^53.

import type { Call, Dimensions, TimedRequest } from '../core/request';
import { CACHES, CONNECTIONS, MEASURED_TERMS, OUTCOMES } from '../core/terms';
import { type ArrayType as AnyArray, numberArray, textArray, type Words, wordsArray } from './binaryArray';
import { readIds, readNumbers, readTexts } from './readArray';
import { attributeSetWords, seriesWords } from './series';

type ArrayType = Exclude<AnyArray, 'bytea[]'>;
type Cell = string | number | Words | null;
type RequestColumn = { name: string; type: ArrayType; of: (r: TimedRequest) => Cell; idText?: true; always?: true };
type CallColumn = { name: string; type: ArrayType; of: (c: Call) => Cell };

const code = (list: readonly string[], value: string | null) => (value === null ? null : list.indexOf(value));
const snake = (name: string) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

const REQUEST_COLUMNS: readonly RequestColumn[] = [
  { name: 'ids', type: 'text[]', of: (r) => r.id, always: true },
  { name: 'started_at', type: 'bigint[]', of: (r) => r.startedAtUs, always: true },
  { name: 'series', type: 'bigint[]', of: (r) => seriesWords(r.dims), idText: true, always: true },
  { name: 'outcome', type: 'smallint[]', of: (r) => code(OUTCOMES, r.outcome), always: true },
  { name: 'e2e', type: 'bigint[]', of: (r) => r.e2eUs, always: true },
  { name: 'ttft', type: 'bigint[]', of: (r) => r.ttftUs },
  ...MEASURED_TERMS.map(
    (term, i): RequestColumn => ({ name: snake(term), type: 'bigint[]', of: (r) => r.terms[i] ?? null }),
  ),
  { name: 'evidence', type: 'integer[]', of: (r) => r.evidence, always: true },
  { name: 'decode', type: 'bigint[]', of: (r) => r.decodeUs },
  { name: 'service', type: 'bigint[]', of: (r) => r.serviceUs },
  { name: 'connection_kind', type: 'smallint[]', of: (r) => code(CONNECTIONS, r.connection) },
  { name: 'round_trips', type: 'smallint[]', of: (r) => r.roundTrips },
  { name: 'rtt', type: 'bigint[]', of: (r) => r.rttUs },
  { name: 'input_tokens', type: 'bigint[]', of: (r) => r.inputTokens },
  { name: 'output_tokens', type: 'bigint[]', of: (r) => r.outputTokens },
  { name: 'cached_input_tokens', type: 'bigint[]', of: (r) => r.cachedInputTokens },
  { name: 'in_flight', type: 'integer[]', of: (r) => r.inFlight },
  { name: 'cache', type: 'smallint[]', of: (r) => code(CACHES, r.cache) },
  { name: 'quality', type: 'real[]', of: (r) => r.quality },
  { name: 'weight', type: 'bigint[]', of: (r) => r.weight },
  { name: 'trace_id', type: 'text[]', of: (r) => r.traceId },
  { name: 'session_id', type: 'text[]', of: (r) => r.sessionId },
  {
    name: 'attribute_set',
    type: 'bigint[]',
    of: (r) => (r.attributes === null ? null : attributeSetWords(r.attributes)),
    idText: true,
  },
  { name: 'call_count', type: 'smallint[]', of: (r) => (r.calls.length === 0 ? null : r.calls.length) },
];

const CALL_COLUMNS: readonly CallColumn[] = [
  { name: 'call_stage', type: 'text[]', of: (c) => c.stage },
  { name: 'call_provider', type: 'text[]', of: (c) => c.provider },
  { name: 'call_model', type: 'text[]', of: (c) => c.model },
  { name: 'call_model_region', type: 'text[]', of: (c) => c.modelRegion },
  { name: 'call_start', type: 'bigint[]', of: (c) => c.startOffsetUs },
  { name: 'call_duration', type: 'bigint[]', of: (c) => c.durationUs },
  { name: 'call_ttft', type: 'bigint[]', of: (c) => c.ttftUs },
  { name: 'call_hop', type: 'bigint[]', of: (c) => c.hopUs },
  { name: 'call_provider_queue', type: 'bigint[]', of: (c) => c.providerQueueUs },
  { name: 'call_model_time', type: 'bigint[]', of: (c) => c.modelUs },
  { name: 'call_attempts', type: 'smallint[]', of: (c) => c.attempts },
  { name: 'call_input_tokens', type: 'bigint[]', of: (c) => c.inputTokens },
  { name: 'call_output_tokens', type: 'bigint[]', of: (c) => c.outputTokens },
];

/** The array columns in the order of `encodeChunk`, with the type to cast a parameter to. */
export const ARRAY_COLUMNS: readonly { name: string; type: ArrayType }[] = [...REQUEST_COLUMNS, ...CALL_COLUMNS];

/** The same apart: arrays with an element a request (`idText`: 63-bit ids) and arrays with an element a call. */
export const CHUNK_ARRAYS: {
  request: readonly { name: string; idText?: true }[];
  call: readonly { name: string }[];
} = { request: REQUEST_COLUMNS, call: CALL_COLUMNS };

/** The places (from 1) of a chunk's rows that a correction superseded; NULL when there are none. */
const VOIDED = `(SELECT json_agg(x.position) FROM superseded x WHERE x.project_id = hot_chunk.project_id
  AND x.shard_key = hot_chunk.shard_key AND x.day = hot_chunk.day AND x.chunk_id = hot_chunk.chunk_id) AS voided`;

/** What to select FROM hot_chunk (under that name) for `openChunk`, as an SQL select list. */
export const CHUNK_COLUMNS = ['n', VOIDED, ...ARRAY_COLUMNS.map((c) => `array_send(${c.name}) AS ${c.name}`)].join(
  ', ',
);

/** Arrays by column name, null where no request fills it. */
export type ChunkRow = { n: number } & Record<string, unknown>;

const READERS = [
  ...REQUEST_COLUMNS.map(({ name, type, idText }) => ({
    name,
    read: idText ? readIds : type === 'text[]' ? readTexts : readNumbers,
  })),
  ...CALL_COLUMNS.map(({ name, type }) => ({ name, read: type === 'text[]' ? readTexts : readNumbers })),
];

/** A row as read with CHUNK_COLUMNS, its arrays opened in place. */
export function openChunk<T extends ChunkRow>(row: T): T {
  const columns: Record<string, unknown> = row;
  for (const { name, read } of READERS) {
    const bytes = columns[name] as Buffer | null;
    if (bytes !== null) columns[name] = read(bytes);
  }
  return row;
}

export type EncodedChunk = { n: number; firstAtUs: number; lastAtUs: number; arrays: (Buffer | null)[] };

/** One column in binary form; null when nothing fills it. */
function encodeColumn<T>(
  {
    name,
    type,
    of,
    idText,
    always,
  }: { name: string; type: ArrayType; of: (row: T) => Cell; idText?: true; always?: true },
  rows: readonly T[],
): Buffer | null {
  const usual = name === 'weight' ? 1 : null;
  const cells: Cell[] = new Array(rows.length);
  let isUsual = always !== true;
  for (let i = 0; i < rows.length; i++) {
    const cell = of(rows[i]!);
    cells[i] = cell;
    if (cell !== usual) isUsual = false;
  }
  if (isUsual) return null;
  if (idText) return wordsArray(cells as (Words | null)[]);
  return type === 'text[]' ? textArray(cells as (string | null)[]) : numberArray(type, cells as (number | null)[]);
}

/** Requests (at least one) → binary arrays in the order of ARRAY_COLUMNS. Throws UnstorableValueError. */
export function encodeChunk(requests: readonly TimedRequest[]): EncodedChunk {
  const calls = requests.flatMap((r) => r.calls);
  const arrays = [
    ...REQUEST_COLUMNS.map((column) => encodeColumn(column, requests)),
    ...CALL_COLUMNS.map((column) => encodeColumn(column, calls)),
  ];
  let firstAtUs = Number.POSITIVE_INFINITY;
  let lastAtUs = Number.NEGATIVE_INFINITY;
  for (const { startedAtUs } of requests) {
    if (startedAtUs < firstAtUs) firstAtUs = startedAtUs;
    if (startedAtUs > lastAtUs) lastAtUs = startedAtUs;
  }
  return { n: requests.length, firstAtUs, lastAtUs, arrays };
}

/** The distinct series ids (decimal text) a row refers to; look them up with `loadSeries`. */
export function seriesIdsOf(row: ChunkRow): string[] {
  return [...new Set(row.series as string[])];
}

/** The distinct attribute set ids (decimal text) a row refers to; look them up with `loadAttributeSets`. */
export function attributeSetIdsOf(row: ChunkRow): string[] {
  const ids = (row.attribute_set ?? []) as (string | null)[];
  return [...new Set(ids.filter((id) => id !== null))];
}

/** A request with its place in its chunk, from 1. */
export type Placed = { position: number; request: TimedRequest };

/**
 * Row → requests that count (superseded ones are left out). `series` holds every series of the row (throws when one is
 * missing, since a request without its dimensions would be counted wrong). Without `attributeSets`, attributes come back
 * null: the fold does not need them.
 */
export function decodeChunk(
  row: ChunkRow,
  series: ReadonlyMap<string, Dimensions>,
  attributeSets?: ReadonlyMap<string, Readonly<Record<string, string>>>,
): TimedRequest[] {
  return decodePlaced(row, series, attributeSets).map((placed) => placed.request);
}

/** The same with the place of each. */
export function decodePlaced(
  row: ChunkRow,
  series: ReadonlyMap<string, Dimensions>,
  attributeSets?: ReadonlyMap<string, Readonly<Record<string, string>>>,
): Placed[] {
  const voided = row.voided ? new Set(row.voided as number[]) : null;
  const numbers = (name: string) => row[name] as (number | null)[] | null;
  const texts = (name: string) => row[name] as (string | null)[] | null;
  const calls = decodeCalls(row);
  const termArrays = MEASURED_TERMS.map((term) => numbers(snake(term)));
  const [ids, startedAt, seriesIds, outcome, e2e] = [
    texts('ids'),
    numbers('started_at'),
    texts('series'),
    numbers('outcome'),
    numbers('e2e'),
  ];
  const [ttft, evidence, decode, service] = ['ttft', 'evidence', 'decode', 'service'].map(numbers);
  const [connection, roundTrips, rtt] = ['connection_kind', 'round_trips', 'rtt'].map(numbers);
  const [input, output, cachedInput] = ['input_tokens', 'output_tokens', 'cached_input_tokens'].map(numbers);
  const [inFlight, cache, quality, weight] = ['in_flight', 'cache', 'quality', 'weight'].map(numbers);
  const [traceId, sessionId, attributeSet] = ['trace_id', 'session_id', 'attribute_set'].map(texts);
  const callCount = numbers('call_count');
  const requests: Placed[] = [];
  let call = 0;
  for (let i = 0; i < row.n; i++) {
    if (voided?.has(i + 1)) {
      call += callCount?.[i] ?? 0;
      continue;
    }
    const dims = series.get(seriesIds![i]!);
    if (!dims) throw new Error(`series ${seriesIds![i]} is not in the map: load every id of seriesIdsOf(row)`);
    const count = callCount?.[i] ?? 0;
    const set = attributeSet?.[i] ?? null;
    const request: TimedRequest = {
      id: ids![i]!,
      startedAtUs: startedAt![i]!,
      dims,
      outcome: OUTCOMES[outcome![i]!]!,
      e2eUs: e2e![i]!,
      ttftUs: ttft?.[i] ?? null,
      terms: termArrays.map((a) => a?.[i] ?? null),
      evidence: evidence![i]!,
      decodeUs: decode?.[i] ?? null,
      serviceUs: service?.[i] ?? null,
      connection: CONNECTIONS[connection?.[i] ?? -1] ?? null,
      roundTrips: roundTrips?.[i] ?? null,
      rttUs: rtt?.[i] ?? null,
      calls: count === 0 ? [] : calls.slice(call, call + count),
      inputTokens: input?.[i] ?? null,
      outputTokens: output?.[i] ?? null,
      cachedInputTokens: cachedInput?.[i] ?? null,
      inFlight: inFlight?.[i] ?? null,
      cache: CACHES[cache?.[i] ?? -1] ?? null,
      quality: quality?.[i] ?? null,
      weight: weight?.[i] ?? 1,
      traceId: traceId?.[i] ?? null,
      sessionId: sessionId?.[i] ?? null,
      attributes: set === null ? null : (attributeSets?.get(set) ?? null),
    };
    requests.push({ position: i + 1, request });
    call += count;
  }
  return requests;
}

function decodeCalls(row: ChunkRow): Call[] {
  const column = <T>(name: string) => row[name] as (T | null)[] | null;
  const stages = column<string>('call_stage') ?? [];
  const duration = column<number>('call_duration');
  const [provider, model, region] = ['call_provider', 'call_model', 'call_model_region'].map((n) => column<string>(n));
  const [start, ttft, hop] = ['call_start', 'call_ttft', 'call_hop'].map((n) => column<number>(n));
  const [queue, time, attempts] = ['call_provider_queue', 'call_model_time', 'call_attempts'].map((n) =>
    column<number>(n),
  );
  const [input, output] = ['call_input_tokens', 'call_output_tokens'].map((n) => column<number>(n));
  return stages.map((stage, i) => ({
    stage: stage!,
    provider: provider?.[i] ?? null,
    model: model?.[i] ?? null,
    modelRegion: region?.[i] ?? null,
    startOffsetUs: start?.[i] ?? null,
    durationUs: duration![i]!,
    ttftUs: ttft?.[i] ?? null,
    hopUs: hop?.[i] ?? null,
    providerQueueUs: queue?.[i] ?? null,
    modelUs: time?.[i] ?? null,
    attempts: attempts?.[i] ?? null,
    inputTokens: input?.[i] ?? null,
    outputTokens: output?.[i] ?? null,
  }));
}
