import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countInterval, newcombe, type Share, wilson } from '@/lib/core/models/proportion';

const of = (k: number, n: number) => wilson(k / n, n);
const rounded = (...numbers: number[]) => numbers.map((x) => Number(x.toFixed(4)));
const ends = (share: Share) => (share.share === null ? [] : rounded(share.low, share.high));

describe('Wilson, as Newcombe (1998) prints it', () => {
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (k, n, low, high) => expect(ends(of(k, n))).toEqual([low, high]));
});

describe('Newcombe’s hybrid score, as he prints it', () => {
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
  ])('%i/%i − %i/%i', (a, m, b, n, low, high) => {
    const difference = newcombe(of(a, m), of(b, n))!;
    expect(rounded(difference.low, difference.high)).toEqual([low, high]);
  });
});

it('holds the share, lies within 0 and 1, and turns round with its sides', () => {
  const anyShare = fc
    .record({ n: fc.integer({ min: 1, max: 1_000_000 }), of: fc.double({ min: 0, max: 1, noNaN: true }) })
    .map(({ n, of: at }) => of(Math.round(at * n), n) as Exclude<Share, { share: null }>);
  fc.assert(
    fc.property(anyShare, anyShare, (a, b) => {
      expect(0 <= a.low && a.low <= a.share && a.share <= a.high && a.high <= 1).toBe(true);
      const [there, back] = [newcombe(a, b)!, newcombe(b, a)!];
      expect(there.low <= there.difference && there.difference <= there.high).toBe(true);
      expect(there.low).toBeCloseTo(-back.high, 12);
    }),
  );
});

it('covers the truth in about 95 of 100, near 1 as well: summed over every outcome, no draws', () => {
  const pmf = (n: number, p: number): number[] => {
    if (p > 0.5) return pmf(n, 1 - p).reverse();
    const out = [(1 - p) ** n];
    for (let k = 1; k <= n; k++) out.push((out[k - 1]! * (n - k + 1) * p) / (k * (1 - p)));
    return out;
  };
  for (const [m, n, p1, p2] of [
    [120, 80, 0.97, 0.93],
    [200, 60, 0.99, 0.99],
    [100, 100, 0.7, 0.5],
  ] as const) {
    const [first, second] = [pmf(m, p1), pmf(n, p2)];
    let covered = 0;
    for (let a = 0; a <= m; a++)
      for (let b = 0; b <= n; b++) {
        const { low, high } = newcombe(of(a, m), of(b, n))!;
        if (low <= p1 - p2 && p1 - p2 <= high) covered += first[a]! * second[b]!;
      }
    expect(covered).toBeGreaterThan(0.94);
    expect(covered).toBeLessThan(0.99);
  }
});

it('without requests there is no share and no difference', () => {
  expect(wilson(0, 0)).toEqual({ share: null, n: 0 });
  expect(newcombe(wilson(1, 5), wilson(0, 0))).toBeNull();
});

it('a count’s interval is that of the exact Poisson one to 1 %', () => {
  // exact limits of 10 and 50 events (chi-squared)
  expect(Math.abs(countInterval(10).low / 4.795 - 1)).toBeLessThan(0.01);
  expect(Math.abs(countInterval(10).high / 18.39 - 1)).toBeLessThan(0.01);
  expect(Math.abs(countInterval(50).low / 37.11 - 1)).toBeLessThan(0.01);
  expect(Math.abs(countInterval(50).high / 65.92 - 1)).toBeLessThan(0.01);
  expect(countInterval(0).low).toBe(0);
  expect(countInterval(0).high).toBeCloseTo(3.69, 0);
});
