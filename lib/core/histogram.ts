// Exponential histogram: OpenTelemetry's mapping on seconds, bucket i covers (2^(i/2^s), 2^((i+1)/2^s)].
//
// At scale 6 a bucket's relative half-width is (γ − 1)/(γ + 1) = 0.54 % with γ = 2^(1/64), so any quantile read from
// merged counts is within 0.55 % of the exact nearest-rank value, whatever was merged and in whatever order. Counts are
// integers and signed, so a correction subtracts exactly what was added. The encoding holds no zero counts and sorts
// its buckets: equal content is equal bytes, which lets a rebuild be compared byte for byte.
// Source of the mapping: OpenTelemetry metrics data model, ExponentialHistogram.

import { ByteReader, ByteWriter } from './bytes';

export const LATENCY_SCALE = 6;

/** n counts requests, weight and weightSquared their weights. Durations in µs; min and max are null when empty. */
export type Histogram = {
  scale: number;
  n: number;
  weight: number;
  weightSquared: number;
  minUs: number | null;
  maxUs: number | null;
  /** Weight of durations that are 0. */
  zero: number;
  /** Bucket index → weight; never 0. */
  buckets: Map<number, number>;
};

export function createHistogram(scale: number = LATENCY_SCALE): Histogram {
  return { scale, n: 0, weight: 0, weightSquared: 0, minUs: null, maxUs: null, zero: 0, buckets: new Map() };
}

/** Bucket index of a positive duration (µs). */
export function bucketIndex(us: number, scale: number): number {
  return Math.ceil(Math.log2(us / 1e6) * 2 ** scale) - 1;
}

/** The value (µs) that stands for a bucket: the one with the least relative error to both edges. */
export function bucketValueUs(index: number, scale: number): number {
  const low = 2 ** (index / 2 ** scale);
  const high = 2 ** ((index + 1) / 2 ** scale);
  return ((2 * low * high) / (low + high)) * 1e6;
}

function bump(buckets: Map<number, number>, index: number, weight: number): void {
  const count = (buckets.get(index) ?? 0) + weight;
  if (count === 0) buckets.delete(index);
  else buckets.set(index, count);
}

/** Adds one request of `us` (µs, ≥ 0) that stands for `weight` requests. */
export function record(histogram: Histogram, us: number, weight: number): void {
  histogram.n += 1;
  histogram.weight += weight;
  histogram.weightSquared += weight * weight;
  if (histogram.minUs === null || us < histogram.minUs) histogram.minUs = us;
  if (histogram.maxUs === null || us > histogram.maxUs) histogram.maxUs = us;
  if (us <= 0) histogram.zero += weight;
  else bump(histogram.buckets, bucketIndex(us, histogram.scale), weight);
}

/**
 * Adds (sign 1) or takes away (sign −1) all of `other`. Taking away never narrows min and max: whoever removes a
 * stored minimum or maximum rebuilds that cell. What is left without content is as new.
 */
export function mergeHistogram(into: Histogram, other: Histogram, sign: 1 | -1 = 1): void {
  into.n += sign * other.n;
  into.weight += sign * other.weight;
  into.weightSquared += sign * other.weightSquared;
  into.zero += sign * other.zero;
  if (other.minUs !== null && (into.minUs === null || other.minUs < into.minUs)) into.minUs = other.minUs;
  if (other.maxUs !== null && (into.maxUs === null || other.maxUs > into.maxUs)) into.maxUs = other.maxUs;
  for (const [index, count] of other.buckets) bump(into.buckets, index, sign * count);
  forgetExtremes(into);
}

/** What is left without content is as new. */
function forgetExtremes(histogram: Histogram): void {
  if (histogram.n !== 0 || !isEmptyHistogram(histogram)) return;
  histogram.minUs = null;
  histogram.maxUs = null;
}

export function isEmptyHistogram({ n, weight, weightSquared, zero, buckets }: Histogram): boolean {
  return n === 0 && weight === 0 && weightSquared === 0 && zero === 0 && buckets.size === 0;
}

/** A histogram that takes `histogram` away when it is merged; it has no minimum or maximum. */
export function negateHistogram(histogram: Histogram): Histogram {
  const negative = createHistogram(histogram.scale);
  mergeHistogram(negative, histogram, -1);
  negative.minUs = null;
  negative.maxUs = null;
  return negative;
}

/** The requests that count for an interval: n, or (Σw)²/Σw² when they are weighted. */
export function effectiveN(histogram: Histogram): number {
  if (histogram.weightSquared === 0) return 0;
  return Math.floor((histogram.weight * histogram.weight) / histogram.weightSquared + 1e-6);
}

/** Nearest-rank quantiles (µs) for ascending `qs`, clamped to the observed min and max; null when empty. */
export function quantilesUs(histogram: Histogram, qs: readonly number[]): (number | null)[] {
  const { minUs, maxUs, buckets, scale } = histogram;
  if (histogram.weight <= 0 || minUs === null || maxUs === null) return qs.map(() => null);
  const indexes = Float64Array.from(buckets.keys()).sort();
  let seen = histogram.zero;
  let next = 0;
  return qs.map((q) => {
    const rank = Math.max(1, Math.ceil(q * histogram.weight * (1 - 1e-15) - 1e-9));
    while (seen < rank && next < indexes.length) seen += buckets.get(indexes[next++]!)!;
    if (rank >= histogram.weight) return maxUs;
    const value = next === 0 ? 0 : bucketValueUs(indexes[next - 1]!, scale);
    return Math.min(maxUs, Math.max(minUs, value));
  });
}

/** One nearest-rank quantile (µs), 0 < q ≤ 1; null when empty. */
export function quantileUs(histogram: Histogram, q: number): number | null {
  return quantilesUs(histogram, [q])[0]!;
}

/** Bits of a stored histogram's head: what is as usual is left out. */
const OTHER_SCALE = 1;
const WEIGHTED = 2;
const HAS_ZERO = 4;

export function writeHistogram(writer: ByteWriter, histogram: Histogram): void {
  const indexes = Float64Array.from(histogram.buckets.keys()).sort();
  const weights = Float64Array.from(indexes, (index) => histogram.buckets.get(index)!);
  writeHistogramForm(writer, histogram, { indexes, weights, length: indexes.length });
}

/** What is written of a histogram: its totals, and its buckets in the order of their index. */
export type HistogramTotals = Omit<Histogram, 'buckets'>;
export type SortedBuckets = { indexes: ArrayLike<number>; weights: ArrayLike<number>; length: number };

export function writeHistogramForm(writer: ByteWriter, totals: HistogramTotals, buckets: SortedBuckets): void {
  const { n, weight, weightSquared, zero, scale } = totals;
  const isWeighted = weight !== n || weightSquared !== n;
  writer.unsigned(
    (scale === LATENCY_SCALE ? 0 : OTHER_SCALE) | (isWeighted ? WEIGHTED : 0) | (zero === 0 ? 0 : HAS_ZERO),
  );
  if (scale !== LATENCY_SCALE) writer.unsigned(scale);
  writer.signed(n);
  if (isWeighted) {
    writer.signed(weight);
    writer.signed(weightSquared);
  }
  if (zero !== 0) writer.signed(zero);
  writer.optional(totals.minUs);
  writer.optional(totals.maxUs);
  writer.unsigned(buckets.length);
  let previous = 0;
  for (let i = 0; i < buckets.length; i++) {
    const index = buckets.indexes[i]!;
    if (i === 0) writer.signed(index);
    else writer.unsigned(index - previous - 1);
    writer.signed(buckets.weights[i]!);
    previous = index;
  }
}

/** Adds the totals of a stored histogram to `into`; the reader then stands before its buckets, whose number it returns. */
export function readHistogramTotals(into: HistogramTotals, reader: ByteReader): number {
  const head = reader.unsigned();
  const scale = (head & OTHER_SCALE) === 0 ? LATENCY_SCALE : reader.unsigned();
  if (scale !== into.scale) {
    if (into.n !== 0) throw new Error(`histograms of scale ${into.scale} and ${scale} do not merge`);
    into.scale = scale;
  }
  const n = reader.signed();
  into.n += n;
  into.weight += (head & WEIGHTED) === 0 ? n : reader.signed();
  into.weightSquared += (head & WEIGHTED) === 0 ? n : reader.signed();
  if ((head & HAS_ZERO) !== 0) into.zero += reader.signed();
  const minUs = reader.optional();
  const maxUs = reader.optional();
  if (minUs !== null && (into.minUs === null || minUs < into.minUs)) into.minUs = minUs;
  if (maxUs !== null && (into.maxUs === null || maxUs > into.maxUs)) into.maxUs = maxUs;
  return reader.unsigned();
}

/** Adds a stored histogram to `into` without building it first: what merging many parts costs. */
export function mergeStoredHistogram(into: Histogram, reader: ByteReader): void {
  const length = readHistogramTotals(into, reader);
  let index = 0;
  for (let i = 0; i < length; i++) {
    index = i === 0 ? reader.signed() : index + reader.unsigned() + 1;
    bump(into.buckets, index, reader.signed());
  }
  forgetExtremes(into);
}

export function readHistogram(reader: ByteReader): Histogram {
  const histogram = createHistogram();
  mergeStoredHistogram(histogram, reader);
  return histogram;
}

export function encodeHistogram(histogram: Histogram): Uint8Array {
  const writer = new ByteWriter();
  writeHistogram(writer, histogram);
  return writer.bytes();
}

export function decodeHistogram(bytes: Uint8Array): Histogram {
  return readHistogram(new ByteReader(bytes));
}
