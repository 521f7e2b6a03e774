import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  mergeHistogram,
  quantilesUs,
  quantileUs,
  record,
} from '@/lib/core/histogram';
import { intervalRanks, smallestN } from '@/lib/core/interval';
import { quantileOfSorted, toValue } from '@/lib/core/quantile';

const durations = fc.array(
  fc.record({ us: fc.integer({ min: 0, max: 900_000_000 }), weight: fc.integer({ min: 1, max: 50 }) }),
  {
    minLength: 1,
    maxLength: 300,
  },
);

function histogramOf(rows: { us: number; weight: number }[]) {
  const histogram = createHistogram();
  for (const { us, weight } of rows) record(histogram, us, weight);
  return histogram;
}

// The table of docs: exact binomial ranks of [x(l), x(u)].
test.each([
  [100, 0.95, 90, 100],
  [100, 0.99, 97, null],
  [368, 0.95, 341, 358],
  [368, 0.99, 360, 368],
  [1000, 0.95, 936, 964],
  [1000, 0.99, 983, 997],
  [2000, 0.99, 1971, 1989],
  [5000, 0.99, 4936, 4964],
  [10_000, 0.95, 9457, 9543],
  [10_000, 0.99, 9880, 9920],
  [100_000, 0.95, 94_864, 95_136],
  [100_000, 0.99, 98_938, 99_062],
])('interval ranks of n = %i, q = %f', (n, q, low, high) => {
  expect(intervalRanks(n, q)).toEqual({ low, high });
});

test.each([
  [0.5, 5, 6],
  [0.9, 29, 36],
  [0.95, 59, 72],
  [0.99, 299, 368],
  [0.999, 2995, 3688],
])('smallest n of q = %f', (q, oneSided, twoSided) => {
  expect(smallestN(q)).toEqual({ oneSided, twoSided });
});

test('1,000 × 100 ms and 10 × 5,000 ms have a p99 of 100 ms', () => {
  const histogram = histogramOf([
    ...Array.from({ length: 1000 }, () => ({ us: 100_000, weight: 1 })),
    ...Array.from({ length: 10 }, () => ({ us: 5_000_000, weight: 1 })),
  ]);
  expect(quantileUs(histogram, 0.99)! / 100_000).toBeCloseTo(1, 2);
});

test.each([90, 300, 540])('a duration of %i s reads back within the stated error', (s) => {
  const histogram = histogramOf([
    { us: 1, weight: 1 },
    { us: s * 1e6, weight: 5 },
    { us: 3_600_000_000, weight: 1 },
  ]);
  expect(Math.abs(quantileUs(histogram, 0.5)! / (s * 1e6) - 1)).toBeLessThan(0.0055);
});

test('every quantile is within 0.55 % of the exact nearest-rank value, monotone, within min and max', () => {
  fc.assert(
    fc.property(durations, (rows) => {
      const histogram = histogramOf(rows);
      const sorted = [...rows].sort((a, b) => a.us - b.us);
      const qs = [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];
      const values = quantilesUs(histogram, qs) as number[];
      qs.forEach((q, i) => {
        const exact = quantileOfSorted(
          sorted.map((r) => r.us),
          sorted.map((r) => r.weight),
          q,
        )!;
        expect(Math.abs(values[i]! - exact)).toBeLessThanOrEqual(exact * 0.0055 + 1e-6);
        if (i > 0) expect(values[i]!).toBeGreaterThanOrEqual(values[i - 1]!);
      });
      expect(values[0]!).toBeGreaterThanOrEqual(sorted[0]!.us);
      expect(values.at(-1)).toBe(sorted.at(-1)!.us);
    }),
  );
});

test('merge is the union, in any order, leaves its input alone; taking away gives back; bytes are canonical', () => {
  fc.assert(
    fc.property(durations, durations, (a, b) => {
      const [ha, hb] = [histogramOf(a), histogramOf(b)];
      const before = encodeHistogram(hb);
      const ab = histogramOf(a);
      mergeHistogram(ab, hb);
      const ba = histogramOf(b);
      mergeHistogram(ba, ha);
      const union = encodeHistogram(histogramOf([...a, ...b].reverse()));
      expect(encodeHistogram(ab)).toEqual(union);
      expect(encodeHistogram(ba)).toEqual(union);
      expect(encodeHistogram(hb)).toEqual(before);
      expect(decodeHistogram(union)).toEqual(histogramOf([...a, ...b]));
      mergeHistogram(ab, hb, -1);
      expect({ ...ab, minUs: 0, maxUs: 0 }).toEqual({ ...ha, minUs: 0, maxUs: 0 });
    }),
  );
});

test('display rule of p99: too few, one-sided, interval', () => {
  const of = (n: number) => histogramOf(Array.from({ length: n }, (_, i) => ({ us: (i + 1) * 1000, weight: 1 })));
  expect(toValue(of(0), 0.99)).toEqual({ ms: null, lowMs: null, highMs: null, reason: 'no_data' });
  const few = toValue(of(298), 0.99);
  expect(few).toMatchObject({ ms: null, highMs: null, reason: 'too_few' });
  expect(few.lowMs! / 290).toBeCloseTo(1, 1);
  const low = toValue(of(299), 0.99);
  expect(low.ms).not.toBeNull();
  expect(low.highMs).toBeNull();
  const normal = toValue(of(1000), 0.99);
  expect(normal.lowMs! / 983).toBeCloseTo(1, 2);
  expect(normal.highMs! / 997).toBeCloseTo(1, 2);
});

test('six equal requests have no p99', () => {
  expect(toValue(histogramOf(Array.from({ length: 6 }, () => ({ us: 5, weight: 1 }))), 0.99).ms).toBeNull();
});
