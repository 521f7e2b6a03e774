// Sample tier: whole requests of a cell, for what needs them (gains, joint gains, intervals, what-if).
//
// Every request while there are at most `all` (2,048 a day); beyond that, in each bucket of wait (ratio 1.19) the
// `perBucket` (64 a day) with the lowest hash of their id. Bottom-k by hash merges in any order, is the same for the same
// requests, keeps the sparse tail whole, and each bucket's weight is kept, so kept rows are calibrated to it:
// weight × (bucket's weight ÷ weight kept). Stored form and how it is read: sampleCodec.

import { hash53 } from './hash';
import type { SampledRequest, TimedRequest } from './request';
import { waitUs } from './request';
import type { Basis } from './terms';

/** What a sample keeps: every request up to `all`, beyond that so many in each bucket of wait. */
export type SampleLimits = { all: number; perBucket: number };
export const DAY_LIMITS: SampleLimits = { all: 2048, perBucket: 64 };
/** Of an hour: ranges of some hours merge many of them. */
export const HOUR_LIMITS: SampleLimits = { all: 1024, perBucket: 16 };
/** Days that the samples of hours are kept: older ranges, however short, are answered from their days. */
export const HOUR_SAMPLE_DAYS = 5;
/** Of a day again, thin: what ranges of weeks, and many cells at once, are read from. */
export const THIN_LIMITS: SampleLimits = { all: 256, perBucket: 8 };
const LOG_RATIO = Math.log(1.19);

export type SampleRow = { hash: number; request: SampledRequest };
type Bucket = { n: number; weight: number; rows: SampleRow[] };
export type Sample = { limits: SampleLimits; n: number; buckets: Map<number, Bucket> };

export function createSample(limits: SampleLimits = DAY_LIMITS): Sample {
  return { limits, n: 0, buckets: new Map() };
}

/** Lowest hash first; the rest makes the order total, also for an id that was sent twice with other content. */
const byHash = (a: SampleRow, b: SampleRow) =>
  a.hash - b.hash ||
  (a.request.id < b.request.id ? -1 : a.request.id > b.request.id ? 1 : 0) ||
  a.request.startedAtUs - b.request.startedAtUs ||
  a.request.e2eUs - b.request.e2eUs;

/** Sorts a bucket's rows canonically and drops what the rule does not keep. */
function pruneBucket(bucket: Bucket, keep: number): void {
  bucket.rows.sort(byHash);
  if (bucket.rows.length > keep) bucket.rows.length = keep;
}

/** Brings a sample into its canonical form: rows in the order of their hash, only those the rule keeps. */
export function prune(sample: Sample): void {
  const keep = isComplete(sample) ? Number.POSITIVE_INFINITY : sample.limits.perBucket;
  for (const bucket of sample.buckets.values()) pruneBucket(bucket, keep);
}

/** Keeps memory bounded while adding; the canonical form is made when it is read or encoded. */
function pruneWhenLarge(sample: Sample, bucket: Bucket): void {
  const { perBucket } = sample.limits;
  if (!isComplete(sample) && bucket.rows.length > 16 * perBucket) pruneBucket(bucket, perBucket);
}

function kept(request: TimedRequest): SampledRequest {
  const { id, startedAtUs, dims, outcome, e2eUs, ttftUs, terms, evidence, decodeUs, connection, roundTrips, rttUs } =
    request;
  const { calls, inputTokens, outputTokens, cachedInputTokens, inFlight, cache, traceId, weight } = request;
  return {
    ...{ id, startedAtUs, dims, outcome, e2eUs, ttftUs, terms, evidence, decodeUs, connection, roundTrips, rttUs },
    ...{ calls, inputTokens, outputTokens, cachedInputTokens, inFlight, cache, traceId, weight },
  };
}

/** The bucket of a wait (µs, ≥ 0). */
export function sampleBucket(us: number): number {
  return us > 0 ? Math.floor(Math.log(us) / LOG_RATIO) : -1;
}

/** Adds a request that counts for the basis (others are ignored: errors, no first output). */
export function addToSample(sample: Sample, request: TimedRequest, basis: Basis): void {
  const wait = waitUs(request, basis);
  if (wait === null) return;
  const index = sampleBucket(wait);
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

/** Unites two samples of different requests; `other` keeps at least what `into` would. It stays untouched. */
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
  return sample.n <= sample.limits.all;
}
