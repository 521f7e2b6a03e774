// Bucket of a duration by table instead of a logarithm: exactly `bucketIndex` at LATENCY_SCALE for every whole number of
// microseconds, eight times faster. The fold asks sixteen times a request.
//
// A table entry covers all numbers with the same exponent and leading ten bits, a span of less than 0.1 %, so at most one
// bucket (1.09 %) begins inside it: entry = bucket of the span's first whole number, STARTS = where the next one begins.

import { bucketIndex, LATENCY_SCALE } from './histogram';

const MANTISSA_BITS = 10;
const OCTAVES = 42;
const LOWEST = bucketIndex(1, LATENCY_SCALE);

/** Exclusive: beyond it the logarithm is taken. */
const TABLE_END = 2 ** OCTAVES;

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);
const HIGH_WORD = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
const FIRST_ENTRY = 1023 << MANTISSA_BITS;

const ENTRIES = Int16Array.from({ length: OCTAVES << MANTISSA_BITS }, (_, k) => {
  const mantissa = 1 + (k % (1 << MANTISSA_BITS)) / (1 << MANTISSA_BITS);
  return bucketIndex(Math.ceil(2 ** (k >> MANTISSA_BITS) * mantissa), LATENCY_SCALE);
});
const STARTS = Float64Array.from({ length: bucketIndex(TABLE_END, LATENCY_SCALE) - LOWEST + 2 }, (_, i) =>
  firstIn(i + LOWEST),
);

/** The smallest whole number of µs in a bucket or above it. */
function firstIn(index: number): number {
  let us = Math.max(1, Math.round(2 ** (index / 2 ** LATENCY_SCALE) * 1e6) - 2);
  while (bucketIndex(us, LATENCY_SCALE) < index) us++;
  return us;
}

/** Bucket index (LATENCY_SCALE) of a whole number of microseconds ≥ 1. */
export function latencyBucket(us: number): number {
  if (us >= TABLE_END) return bucketIndex(us, LATENCY_SCALE);
  double[0] = us;
  const entry = ENTRIES[(words[HIGH_WORD]! >>> (20 - MANTISSA_BITS)) - FIRST_ENTRY]!;
  return us >= STARTS[entry + 1 - LOWEST]! ? entry + 1 : entry;
}
