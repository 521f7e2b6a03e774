// Sample tier: whole requests of a cell, for what needs them (gains, joint gains, intervals, what-if).
//
// Every request while there are at most 2,048; beyond that, in each bucket of wait (ratio 1.19) the 64 with the lowest
// hash of their id. Bottom-k by hash merges in any order, is the same for the same requests, keeps the sparse tail whole,
// and each bucket's weight is kept, so kept rows are calibrated to it: weight × (bucket's weight ÷ weight kept).

import { type ByteReader, ByteWriter } from './bytes';
import { hash53 } from './hash';
import type { Call, Dimensions, SampledRequest, TimedRequest } from './request';
import { waitUs } from './request';
import { type Basis, CACHES, CONNECTIONS, OUTCOMES, VANTAGES } from './terms';

export const KEEP_ALL = 2048;
export const KEEP_PER_BUCKET = 64;
const LOG_RATIO = Math.log(1.19);

type Row = { hash: number; request: SampledRequest };
type Bucket = { n: number; weight: number; rows: Row[] };
export type Sample = { n: number; buckets: Map<number, Bucket> };

export function createSample(): Sample {
  return { n: 0, buckets: new Map() };
}

/** Lowest hash first; the rest makes the order total, also for an id that was sent twice with other content. */
const byHash = (a: Row, b: Row) =>
  a.hash - b.hash ||
  (a.request.id < b.request.id ? -1 : a.request.id > b.request.id ? 1 : 0) ||
  a.request.startedAtUs - b.request.startedAtUs ||
  a.request.e2eUs - b.request.e2eUs;

/** Sorts a bucket's rows canonically and drops what the rule does not keep. */
function pruneBucket(bucket: Bucket, complete: boolean): void {
  bucket.rows.sort(byHash);
  if (!complete && bucket.rows.length > KEEP_PER_BUCKET) bucket.rows.length = KEEP_PER_BUCKET;
}

function prune(sample: Sample): void {
  for (const bucket of sample.buckets.values()) pruneBucket(bucket, isComplete(sample));
}

/** Keeps memory bounded while adding; the canonical form is made when it is read or encoded. */
function pruneWhenLarge(sample: Sample, bucket: Bucket): void {
  if (!isComplete(sample) && bucket.rows.length > 16 * KEEP_PER_BUCKET) pruneBucket(bucket, false);
}

function kept(request: TimedRequest): SampledRequest {
  const { id, startedAtUs, dims, outcome, e2eUs, ttftUs, terms, evidence, decodeUs, connection, roundTrips, rttUs } =
    request;
  const { calls, inputTokens, outputTokens, cachedInputTokens, cache, traceId, weight } = request;
  return {
    ...{ id, startedAtUs, dims, outcome, e2eUs, ttftUs, terms, evidence, decodeUs, connection, roundTrips, rttUs },
    ...{ calls, inputTokens, outputTokens, cachedInputTokens, cache, traceId, weight },
  };
}

/** Adds a request that counts for the basis (others are ignored: errors, no first output). */
export function addToSample(sample: Sample, request: TimedRequest, basis: Basis): void {
  const wait = waitUs(request, basis);
  if (wait === null) return;
  const index = wait > 0 ? Math.floor(Math.log(wait) / LOG_RATIO) : -1;
  let bucket = sample.buckets.get(index);
  if (!bucket) {
    bucket = { n: 0, weight: 0, rows: [] };
    sample.buckets.set(index, bucket);
  }
  sample.n += 1;
  bucket.n += 1;
  bucket.weight += request.weight;
  bucket.rows.push({ hash: hash53(request.id), request: kept(request) });
  pruneWhenLarge(sample, bucket);
}

/** Unites two samples of different requests. The other stays untouched. */
export function mergeSample(into: Sample, other: Sample): void {
  into.n += other.n;
  for (const [index, from] of other.buckets) {
    const bucket = into.buckets.get(index);
    if (!bucket) into.buckets.set(index, { n: from.n, weight: from.weight, rows: [...from.rows] });
    else {
      bucket.n += from.n;
      bucket.weight += from.weight;
      bucket.rows.push(...from.rows);
      pruneWhenLarge(into, bucket);
    }
  }
}

/** Every request is kept, so what is computed from the rows is exact. */
export function isComplete(sample: Sample): boolean {
  return sample.n <= KEEP_ALL;
}

/** The kept requests with calibrated weights: they sum to the weight of all that the sample stands for. */
export function sampleRows(sample: Sample): SampledRequest[] {
  prune(sample);
  const rows: SampledRequest[] = [];
  for (const index of [...sample.buckets.keys()].sort((a, b) => a - b)) {
    const bucket = sample.buckets.get(index)!;
    const keptWeight = bucket.rows.reduce((sum, row) => sum + row.request.weight, 0);
    const factor = bucket.weight / keptWeight;
    for (const { request } of bucket.rows) {
      rows.push(factor === 1 ? request : { ...request, weight: request.weight * factor });
    }
  }
  return rows;
}

/** Texts of a sample, each written once, in the order of first use. */
class TextTable {
  readonly texts: string[] = [];
  private readonly indexes = new Map<string, number>();
  index(text: string | null): number | null {
    if (text === null) return null;
    let index = this.indexes.get(text);
    if (index === undefined) {
      index = this.texts.push(text) - 1;
      this.indexes.set(text, index);
    }
    return index;
  }
}

const DIMENSIONS = [
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

const codeOf = (list: readonly string[], value: string | null) => (value === null ? null : list.indexOf(value));

function writeCall(writer: ByteWriter, texts: TextTable, call: Call): void {
  writer.unsigned(texts.index(call.stage)!);
  for (const field of CALL_TEXTS) writer.optional(texts.index(call[field]));
  writer.unsigned(call.durationUs);
  for (const field of CALL_NUMBERS) writer.optional(call[field]);
}

function writeRow(writer: ByteWriter, texts: TextTable, request: SampledRequest): void {
  writer.text(request.id);
  writer.unsigned(request.startedAtUs);
  writer.unsigned(texts.index(request.dims.endpoint)!);
  writer.unsigned(VANTAGES.indexOf(request.dims.vantage));
  for (const field of DIMENSIONS) writer.optional(texts.index(request.dims[field]));
  writer.unsigned(OUTCOMES.indexOf(request.outcome));
  writer.unsigned(request.e2eUs);
  for (const field of ROW_NUMBERS) writer.optional(request[field]);
  for (const us of request.terms) writer.optional(us);
  writer.unsigned(request.evidence);
  writer.optional(codeOf(CONNECTIONS, request.connection));
  writer.optional(codeOf(CACHES, request.cache));
  writer.optional(texts.index(request.traceId));
  writer.unsigned(request.weight);
  writer.unsigned(request.calls.length);
  for (const call of request.calls) writeCall(writer, texts, call);
}

export function encodeSample(sample: Sample): Uint8Array {
  prune(sample);
  const texts = new TextTable();
  const body = new ByteWriter();
  for (const index of [...sample.buckets.keys()].sort((a, b) => a - b)) {
    const bucket = sample.buckets.get(index)!;
    body.signed(index);
    body.unsigned(bucket.n);
    body.unsigned(bucket.weight);
    body.unsigned(bucket.rows.length);
    for (const row of bucket.rows) writeRow(body, texts, row.request);
  }
  const writer = new ByteWriter();
  writer.unsigned(sample.n);
  writer.unsigned(texts.texts.length);
  for (const text of texts.texts) writer.text(text);
  writer.raw(body.bytes());
  return writer.bytes();
}

function readCall(reader: ByteReader, texts: string[]): Call {
  const stage = texts[reader.unsigned()]!;
  const named = Object.fromEntries(CALL_TEXTS.map((field) => [field, textAt(texts, reader.optional())]));
  const durationUs = reader.unsigned();
  const numbers = Object.fromEntries(CALL_NUMBERS.map((field) => [field, reader.optional()]));
  return { stage, durationUs, ...named, ...numbers } as Call;
}

const textAt = (texts: string[], index: number | null) => (index === null ? null : texts[index]!);

function readRow(reader: ByteReader, texts: string[], terms: number): SampledRequest {
  const id = reader.text();
  const startedAtUs = reader.unsigned();
  const endpoint = texts[reader.unsigned()]!;
  const vantage = VANTAGES[reader.unsigned()]!;
  const others = Object.fromEntries(DIMENSIONS.map((field) => [field, textAt(texts, reader.optional())]));
  const outcome = OUTCOMES[reader.unsigned()]!;
  const e2eUs = reader.unsigned();
  const numbers = Object.fromEntries(ROW_NUMBERS.map((field) => [field, reader.optional()]));
  const vector = Array.from({ length: terms }, () => reader.optional());
  const evidence = reader.unsigned();
  const connection = reader.optional();
  const cache = reader.optional();
  const traceId = textAt(texts, reader.optional());
  const weight = reader.unsigned();
  const calls = Array.from({ length: reader.unsigned() }, () => readCall(reader, texts));
  const dims = { endpoint, vantage, ...others } as Dimensions;
  const counted = numbers as Pick<SampledRequest, (typeof ROW_NUMBERS)[number]>;
  return {
    ...{ id, startedAtUs, dims, outcome, e2eUs, ...counted, terms: vector, evidence, traceId, weight, calls },
    connection: connection === null ? null : CONNECTIONS[connection]!,
    cache: cache === null ? null : CACHES[cache]!,
  };
}

export function readSample(reader: ByteReader, terms: number): Sample {
  const sample: Sample = { n: reader.unsigned(), buckets: new Map() };
  const texts = Array.from({ length: reader.unsigned() }, () => reader.text());
  while (!reader.done) {
    const index = reader.signed();
    const n = reader.unsigned();
    const weight = reader.unsigned();
    const rows = Array.from({ length: reader.unsigned() }, () => {
      const request = readRow(reader, texts, terms);
      return { hash: hash53(request.id), request };
    });
    sample.buckets.set(index, { n, weight, rows });
  }
  return sample;
}
