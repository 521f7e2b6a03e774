// What is called a change: planted ones are, chance is not; the difference is that of the two percentiles.
import { describe, expect, it } from 'vitest';
import { createHistogram, type Histogram, record } from '@/lib/core/histogram';
import { shareAbove, shiftOf } from '@/lib/core/shift';

/** A repeatable log-normal-like population in µs. */
function population(seed: number, n: number, make: (ms: number, i: number) => number = (ms) => ms): Histogram {
  let state = seed;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const histogram = createHistogram();
  for (let i = 0; i < n; i++) {
    const normal = Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
    record(histogram, Math.round(make(200 * Math.exp(0.6 * normal), i) * 1000), 1);
  }
  return histogram;
}

describe('a change', () => {
  it('of everything by 30 % is claimed at p50, p95 and p99', () => {
    const [before, after] = [population(1, 4_000), population(2, 4_000, (ms) => ms * 1.3)];
    for (const q of [0.5, 0.95, 0.99]) {
      const shift = shiftOf(before, after, q);
      expect(shift.isClaimed).toBe(true);
      expect(shift.differenceMs).toBe(shift.after.ms! - shift.before.ms!);
      expect(shift.lowMs!).toBeLessThan(shift.differenceMs!);
      expect(shift.highMs!).toBeGreaterThan(shift.differenceMs!);
    }
  });

  it('of the slowest 3 % alone is claimed at p99 and not at p50', () => {
    const after = population(4, 6_000, (ms, i) => (i % 33 === 0 ? ms + 2_000 : ms));
    const before = population(3, 6_000);
    expect(shiftOf(before, after, 0.99).isClaimed).toBe(true);
    expect(shiftOf(before, after, 0.5).isClaimed).toBe(false);
  });

  it('without one, hardly any of 300 comparisons claims any', () => {
    let claims = 0;
    for (let run = 0; run < 100; run++) {
      const [before, after] = [population(run * 17 + 5, 1_500), population(run * 29 + 11, 1_500)];
      for (const q of [0.5, 0.95, 0.99]) if (shiftOf(before, after, q).isClaimed) claims += 1;
    }
    expect(claims).toBeLessThanOrEqual(9);
  });

  it('is not claimed of a percentile with too few requests', () => {
    const shift = shiftOf(
      population(1, 100),
      population(2, 100, (ms) => ms * 5),
      0.99,
    );
    expect([shift.differenceMs, shift.isClaimed]).toEqual([null, false]);
  });
});

it('the share above a duration is counted by weight', () => {
  const histogram = createHistogram();
  record(histogram, 100_000, 3);
  record(histogram, 900_000, 1);
  expect(shareAbove(histogram, 500_000)).toBe(0.25);
  expect(shareAbove(createHistogram(), 500_000)).toBeNull();
});
