// Anatomy: what the requests around each percentile of the wait are made of.
//
// Per bucket of wait (scale 3) it keeps the weight and the exact sum of every term. A window of at least 30 requests
// around a percentile takes whole or proportional pieces of buckets, so its mean terms add up exactly to its mean wait,
// and percentiles of terms are never mixed.

import { type ByteReader, ByteWriter } from './bytes';
import { bucketIndex, LATENCY_SCALE } from './histogram';
import { breakdown, type TimedRequest, waitUs } from './request';
import { type Basis, TERMS, type Term } from './terms';

const SCALE = 3;
const WINDOW_REQUESTS = 30;
/** Bucket of waits of 0. */
const ZERO = -1000;

type Bucket = { n: number; weight: number; waitUs: number; termUs: number[]; covered: number[] };
export type Anatomy = Map<number, Bucket>;

/** One window: what the requests around a percentile are made of. Terms add up to waitMs. */
export type AnatomyPoint = {
  percentile: number;
  n: number;
  waitMs: number;
  terms: Record<Term, number>;
  coverage: Record<Term, number>;
};

type Measured = Pick<TimedRequest, 'e2eUs' | 'ttftUs' | 'outcome' | 'terms' | 'decodeUs' | 'weight'>;

function emptyBucket(): Bucket {
  return { n: 0, weight: 0, waitUs: 0, termUs: TERMS.map(() => 0), covered: TERMS.map(() => 0) };
}

export function addToAnatomy(anatomy: Anatomy, request: Measured, basis: Basis): void {
  const wait = waitUs(request, basis);
  if (wait === null) return;
  const index = wait > 0 ? bucketIndex(wait, SCALE) : ZERO;
  let bucket = anatomy.get(index);
  if (!bucket) {
    bucket = emptyBucket();
    anatomy.set(index, bucket);
  }
  bucket.n += 1;
  bucket.weight += request.weight;
  bucket.waitUs += wait * request.weight;
  const parts = breakdown(request, basis);
  TERMS.forEach((term, i) => {
    const us = parts[term];
    if (us === null) return;
    bucket.termUs[i]! += us * request.weight;
    bucket.covered[i]! += request.weight;
  });
}

function isZero(bucket: Bucket): boolean {
  if (bucket.n !== 0 || bucket.weight !== 0 || bucket.waitUs !== 0) return false;
  return bucket.termUs.every((us) => us === 0) && bucket.covered.every((weight) => weight === 0);
}

export function mergeAnatomy(into: Anatomy, other: Anatomy, sign: 1 | -1 = 1): void {
  for (const [index, from] of other) {
    let bucket = into.get(index);
    if (!bucket) {
      bucket = emptyBucket();
      into.set(index, bucket);
    }
    bucket.n += sign * from.n;
    bucket.weight += sign * from.weight;
    bucket.waitUs += sign * from.waitUs;
    for (let i = 0; i < TERMS.length; i++) {
      bucket.termUs[i]! += sign * from.termUs[i]!;
      bucket.covered[i]! += sign * from.covered[i]!;
    }
    if (isZero(bucket)) into.delete(index);
  }
}

/** Numbers of a bucket: n, weight, wait, then every term's sum and coverage. */
export const ANATOMY_FIELDS = 3 + 2 * TERMS.length;
/** Buckets here are 2^ANATOMY_SHIFT buckets of a histogram at LATENCY_SCALE. */
export const ANATOMY_SHIFT = LATENCY_SCALE - SCALE;
export const ZERO_BUCKET = ZERO;

/** `fields` in the order of ANATOMY_FIELDS. */
export function writeAnatomyBucket(writer: ByteWriter, index: number, fields: ArrayLike<number>): void {
  writer.signed(index);
  for (let i = 0; i < ANATOMY_FIELDS; i++) writer.signed(fields[i]!);
}

export function encodeAnatomy(anatomy: Anatomy): Uint8Array {
  const writer = new ByteWriter();
  for (const index of [...anatomy.keys()].sort((a, b) => a - b)) {
    const { n, weight, waitUs: wait, termUs, covered } = anatomy.get(index)!;
    writeAnatomyBucket(writer, index, [n, weight, wait, ...termUs, ...covered]);
  }
  return writer.bytes();
}

/** Adds a stored anatomy to `into`. */
export function mergeStoredAnatomy(into: Anatomy, reader: ByteReader): void {
  while (!reader.done) {
    const index = reader.signed();
    let bucket = into.get(index);
    if (!bucket) {
      bucket = emptyBucket();
      into.set(index, bucket);
    }
    bucket.n += reader.signed();
    bucket.weight += reader.signed();
    bucket.waitUs += reader.signed();
    for (let i = 0; i < TERMS.length; i++) bucket.termUs[i]! += reader.signed();
    for (let i = 0; i < TERMS.length; i++) bucket.covered[i]! += reader.signed();
    if (isZero(bucket)) into.delete(index);
  }
}

/** The share of each bucket that lies within a span of cumulated requests. */
function windowOf(buckets: Bucket[], from: number, to: number): { bucket: Bucket; share: number }[] {
  const pieces: { bucket: Bucket; share: number }[] = [];
  let seen = 0;
  for (const bucket of buckets) {
    const overlap = Math.min(to, seen + bucket.n) - Math.max(from, seen);
    if (overlap > 0) pieces.push({ bucket, share: overlap / bucket.n });
    seen += bucket.n;
  }
  return pieces;
}

/** The windows around the given percentiles (0–100), each of ≥ 30 requests, or of all when there are fewer. */
export function anatomyPoints(anatomy: Anatomy, percentiles: readonly number[]): AnatomyPoint[] {
  const buckets = [...anatomy.entries()].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
  const n = buckets.reduce((sum, b) => sum + b.n, 0);
  if (n <= 0) return [];
  const size = Math.min(n, WINDOW_REQUESTS);
  return percentiles.map((percentile) => {
    const from = Math.min(n - size, Math.max(0, (percentile / 100) * n - size / 2));
    const pieces = windowOf(buckets, from, from + size);
    const sum = (of: (b: Bucket) => number) => pieces.reduce((acc, p) => acc + of(p.bucket) * p.share, 0);
    const weight = sum((b) => b.weight);
    const perTerm = (of: (b: Bucket, i: number) => number, scale: number) =>
      Object.fromEntries(TERMS.map((term, i) => [term, sum((b) => of(b, i)) / weight / scale])) as Record<Term, number>;
    return {
      percentile,
      n: Math.round(pieces.reduce((acc, p) => acc + p.bucket.n, 0)),
      waitMs: sum((b) => b.waitUs) / weight / 1000,
      terms: perTerm((b, i) => b.termUs[i]!, 1000),
      coverage: perTerm((b, i) => b.covered[i]!, 1),
    };
  });
}
