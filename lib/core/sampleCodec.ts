// Stored form of a sample, and how rows are read from many of them.
//
//   n · dimension tuples · texts · buckets: index, n, weight, rows, bytes of the rows · rows in the order of their hash
//
// A read takes the first rows of each bucket only and jumps over the rest, so a month of one cell costs what a day does.
// Parts are strata: each bucket of each part keeps its own exact weight, so rows of several parts are simply put together.

import { ByteReader, ByteWriter } from './bytes';
import { hash53 } from './hash';
import type { Call, Dimensions, SampledRequest } from './request';
import { createSample, prune, type Sample, type SampleLimits } from './sample';
import { CACHES, CONNECTIONS, MEASURED_TERMS, OUTCOMES, VANTAGES } from './terms';

/** Values of a sample, each written once, in the order of first use. */
export class Table<T> {
  readonly values: T[] = [];
  private readonly indexes = new Map<string, number>();
  constructor(private readonly keyOf: (value: T) => string) {}
  index(value: T): number {
    const key = this.keyOf(value);
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.values.push(value) - 1;
      this.indexes.set(key, index);
    }
    return index;
  }
}

const DIMENSION_TEXTS = [
  'endpoint',
  'environment',
  'version',
  'clientRegion',
  'serviceRegion',
  'provider',
  'model',
  'modelRegion',
] as const;
const CALL_TEXTS = ['provider', 'model', 'modelRegion'] as const;
const CALL_NUMBERS = [
  'startOffsetUs',
  'ttftUs',
  'hopUs',
  'providerQueueUs',
  'modelUs',
  'attempts',
  'inputTokens',
  'outputTokens',
] as const;
const ROW_NUMBERS = [
  'ttftUs',
  'decodeUs',
  'roundTrips',
  'rttUs',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
] as const;

/** A bit above the evidence of the terms and the kind of the queue: the number in flight follows. */
const IN_FLIGHT = 1 << (2 * MEASURED_TERMS.length + 2);

type Tables = { dims: Table<Dimensions>; texts: Table<string> };

const codeOf = (list: readonly string[], value: string | null) => (value === null ? null : list.indexOf(value));
const indexOrNull = (texts: Table<string>, text: string | null) => (text === null ? null : texts.index(text));

function writeCall(writer: ByteWriter, texts: Table<string>, call: Call): void {
  writer.unsigned(texts.index(call.stage));
  for (const field of CALL_TEXTS) writer.optional(indexOrNull(texts, call[field]));
  writer.unsigned(call.durationUs);
  for (const field of CALL_NUMBERS) writer.optional(call[field]);
}

/** A row before its index of dimensions, and after it up to its calls: the same bytes in every sample. */
export function writeRowStart(writer: ByteWriter, request: SampledRequest): void {
  writer.identifier(request.id);
  writer.unsigned(request.startedAtUs);
}

export function writeRowRest(writer: ByteWriter, request: SampledRequest): void {
  writer.unsigned(OUTCOMES.indexOf(request.outcome));
  writer.unsigned(request.e2eUs);
  for (const field of ROW_NUMBERS) writer.optional(request[field]);
  for (const us of request.terms) writer.optional(us);
  writer.unsigned(request.evidence | (request.inFlight === null ? 0 : IN_FLIGHT));
  if (request.inFlight !== null) writer.unsigned(request.inFlight);
  writer.optional(codeOf(CONNECTIONS, request.connection));
  writer.optional(codeOf(CACHES, request.cache));
  writer.identifier(request.traceId);
  writer.unsigned(request.weight);
  writer.unsigned(request.calls.length);
}

export function writeCalls(writer: ByteWriter, texts: Table<string>, calls: readonly Call[]): void {
  for (const call of calls) writeCall(writer, texts, call);
}

function writeRow(writer: ByteWriter, { dims, texts }: Tables, request: SampledRequest): void {
  writeRowStart(writer, request);
  writer.unsigned(dims.index(request.dims));
  writeRowRest(writer, request);
  writeCalls(writer, texts, request.calls);
}

/** Text that is equal for equal dimensions. */
export const dimensionsKey = (dims: Dimensions) =>
  JSON.stringify([dims.vantage, ...DIMENSION_TEXTS.map((f) => dims[f])]);

/** Canonical bytes: equal samples are equal bytes. */
export function encodeSample(sample: Sample): Uint8Array {
  prune(sample);
  const tables: Tables = { dims: new Table(dimensionsKey), texts: new Table((text) => text) };
  const body = new ByteWriter();
  for (const index of [...sample.buckets.keys()].sort((a, b) => a - b)) {
    const bucket = sample.buckets.get(index)!;
    const rows = new ByteWriter();
    for (const { request } of bucket.rows) writeRow(rows, tables, request);
    body.signed(index);
    body.unsigned(bucket.n);
    body.unsigned(bucket.weight);
    body.unsigned(bucket.rows.length);
    body.sized(rows.bytes());
  }
  const writer = new ByteWriter();
  writeTables(writer, sample.n, { dims: tables.dims.values, texts: tables.texts.values });
  writer.raw(body.bytes());
  return writer.bytes();
}

/** What stands before the buckets of a sample: how many requests it stands for, and its tables. */
export function writeTables(
  writer: ByteWriter,
  n: number,
  { dims, texts }: { dims: readonly Dimensions[]; texts: readonly string[] },
): void {
  writer.unsigned(n);
  writer.unsigned(dims.length);
  for (const one of dims) {
    writer.unsigned(VANTAGES.indexOf(one.vantage));
    for (const field of DIMENSION_TEXTS) writer.optionalText(one[field]);
  }
  writer.unsigned(texts.length);
  for (const text of texts) writer.text(text);
}

const textAt = (texts: string[], index: number | null) => (index === null ? null : texts[index]!);

function readCall(reader: ByteReader, texts: string[]): Call {
  return {
    stage: texts[reader.unsigned()]!,
    provider: textAt(texts, reader.optional()),
    model: textAt(texts, reader.optional()),
    modelRegion: textAt(texts, reader.optional()),
    durationUs: reader.unsigned(),
    startOffsetUs: reader.optional(),
    ttftUs: reader.optional(),
    hopUs: reader.optional(),
    providerQueueUs: reader.optional(),
    modelUs: reader.optional(),
    attempts: reader.optional(),
    inputTokens: reader.optional(),
    outputTokens: reader.optional(),
  };
}

function readCalls(reader: ByteReader, texts: string[]): Call[] {
  const calls: Call[] = [];
  for (let left = reader.unsigned(); left > 0; left--) calls.push(readCall(reader, texts));
  return calls;
}

function readTerms(reader: ByteReader): (number | null)[] {
  const terms: (number | null)[] = [];
  for (let i = 0; i < MEASURED_TERMS.length; i++) terms.push(reader.optional());
  return terms;
}

function readEvidence(reader: ByteReader): { evidence: number; inFlight: number | null } {
  const bits = reader.unsigned();
  return { evidence: bits & ~IN_FLIGHT, inFlight: bits & IN_FLIGHT ? reader.unsigned() : null };
}

const codeAt = <T>(list: readonly T[], index: number | null): T | null => (index === null ? null : list[index]!);

/** Fields are read in the order they were written: the order of this literal. */
function readRow(reader: ByteReader, dims: Dimensions[], texts: string[]): SampledRequest {
  return {
    id: reader.identifier()!,
    startedAtUs: reader.unsigned(),
    dims: dims[reader.unsigned()]!,
    outcome: OUTCOMES[reader.unsigned()]!,
    e2eUs: reader.unsigned(),
    ttftUs: reader.optional(),
    decodeUs: reader.optional(),
    roundTrips: reader.optional(),
    rttUs: reader.optional(),
    inputTokens: reader.optional(),
    outputTokens: reader.optional(),
    cachedInputTokens: reader.optional(),
    terms: readTerms(reader),
    ...readEvidence(reader),
    connection: codeAt(CONNECTIONS, reader.optional()),
    cache: codeAt(CACHES, reader.optional()),
    traceId: reader.identifier(),
    weight: reader.unsigned(),
    calls: readCalls(reader, texts),
  };
}

type StoredBucket = { index: number; n: number; weight: number; rows: number; bytes: Uint8Array };

/** A sample as stored, its rows not read yet. `kept` counts them; `n` counts what they stand for. */
export type StoredSample = {
  n: number;
  kept: number;
  dims: Dimensions[];
  texts: string[];
  buckets: StoredBucket[];
};

function readDimensions(reader: ByteReader): Dimensions {
  const vantage = VANTAGES[reader.unsigned()]!;
  const texts = Object.fromEntries(DIMENSION_TEXTS.map((field) => [field, reader.optionalText()]));
  return { vantage, ...texts } as Dimensions;
}

/** Opens a stored sample without reading its rows. */
export function openSample(bytes: Uint8Array): StoredSample {
  const reader = new ByteReader(bytes);
  const n = reader.unsigned();
  const dims = Array.from({ length: reader.unsigned() }, () => readDimensions(reader));
  const texts = Array.from({ length: reader.unsigned() }, () => reader.text());
  const buckets: StoredBucket[] = [];
  let kept = 0;
  while (!reader.done) {
    const bucket = {
      index: reader.signed(),
      n: reader.unsigned(),
      weight: reader.unsigned(),
      rows: reader.unsigned(),
      bytes: reader.sized(),
    };
    kept += bucket.rows;
    buckets.push(bucket);
  }
  return { n, kept, dims, texts, buckets };
}

function readRows(sample: StoredSample, bucket: StoredBucket, most: number): SampledRequest[] {
  const reader = new ByteReader(bucket.bytes);
  const rows: SampledRequest[] = [];
  for (let left = Math.min(most, bucket.rows); left > 0; left--) rows.push(readRow(reader, sample.dims, sample.texts));
  return rows;
}

/** The whole sample, as it was encoded. */
export function decodeSample(bytes: Uint8Array, limits: SampleLimits): Sample {
  const stored = openSample(bytes);
  const sample = createSample(limits);
  sample.n = stored.n;
  for (const bucket of stored.buckets) {
    const rows = readRows(stored, bucket, bucket.rows).map((request) => ({ hash: hash53(request.id), request }));
    sample.buckets.set(bucket.index, { n: bucket.n, weight: bucket.weight, rows });
  }
  return sample;
}

/** The largest cap so that sizes cut to it add up to at most `most` (1 at least). */
function largestCap(sizes: readonly number[], most: number): number {
  const total = (cap: number) => sizes.reduce((sum, rows) => sum + Math.min(rows, cap), 0);
  const largest = sizes.reduce((a, b) => Math.max(a, b), 1);
  if (total(largest) <= most) return largest;
  let [low, high] = [1, largest];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (total(middle) <= most) low = middle;
    else high = middle;
  }
  return low;
}

/** The slowest requests, of which as many rows as there are may be read: tail percentiles are made of them. */
const TAIL_WEIGHT = 0.1;
/** What they may take of all rows. */
const TAIL_ROWS = 0.5;

/** Rows to read of the buckets with an index, so that all samples together give about `mostRows`. */
function rowCaps(samples: readonly StoredSample[], mostRows: number): (index: number) => number {
  const byIndex = new Map<number, { weight: number; sizes: number[] }>();
  let total = 0;
  for (const { buckets } of samples)
    for (const { index, weight, rows } of buckets) {
      const known = byIndex.get(index);
      if (known === undefined) byIndex.set(index, { weight, sizes: [rows] });
      else {
        known.weight += weight;
        known.sizes.push(rows);
      }
      total += weight;
    }
  const [tail, body]: [number[], number[]] = [[], []];
  let [above, tailFrom] = [0, Number.POSITIVE_INFINITY];
  for (const index of [...byIndex.keys()].sort((a, b) => b - a)) {
    const { weight, sizes } = byIndex.get(index)!;
    const isTail = above + weight <= TAIL_WEIGHT * total;
    above += weight;
    if (isTail) tailFrom = index;
    (isTail ? tail : body).push(...sizes);
  }
  const tailCap = largestCap(tail, TAIL_ROWS * mostRows);
  const tailRows = tail.reduce((sum, rows) => sum + Math.min(rows, tailCap), 0);
  const bodyCap = largestCap(body, mostRows - tailRows);
  return (index) => (index >= tailFrom ? Math.max(tailCap, bodyCap) : bodyCap);
}

/**
 * Requests of several samples with calibrated weights, which sum to the weight of all that the samples stand for.
 * `complete`: no request is left out, so what is computed from the rows is exact.
 */
export function sampleRows(
  samples: readonly StoredSample[],
  mostRows: number,
): { rows: SampledRequest[]; complete: boolean } {
  const capOf = rowCaps(samples, mostRows);
  const rows: SampledRequest[] = [];
  let n = 0;
  for (const sample of samples) {
    n += sample.n;
    for (const bucket of sample.buckets) {
      const some = readRows(sample, bucket, capOf(bucket.index));
      const factor = bucket.weight / some.reduce((sum, row) => sum + row.weight, 0);
      // These rows are this call's own: nobody else holds them
      if (factor !== 1) {
        const stratum = { kept: some.length, factor };
        for (const row of some) {
          row.weight *= factor;
          row.stratum = stratum;
        }
      }
      for (const row of some) rows.push(row);
    }
  }
  // One order, however the parts lay: the bootstrap draws by position
  rows.sort((a, b) => a.startedAtUs - b.startedAtUs || (a.id < b.id ? -1 : 1));
  return { rows, complete: rows.length === n };
}
