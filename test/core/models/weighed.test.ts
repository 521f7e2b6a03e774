import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tokensPerSecond, tpotUs } from '@/lib/core/models/speed';
import { claimedSign, valueDifference } from '@/lib/core/models/valueDifference';
import { amountAt, meanOf, valueAt, weigh } from '@/lib/core/models/weighed';
import { createDraws } from '@/lib/demo/draws';
import { aRequest } from '../../support/requests';

it('whole weights are so many requests: the same percentile as of them all', () => {
  const anyMeasured = fc.record({ value: fc.integer({ min: 1, max: 9_000 }), weight: fc.integer({ min: 1, max: 9 }) });
  fc.assert(
    fc.property(fc.array(anyMeasured, { minLength: 100, maxLength: 200 }), (some) => {
      const all = some.flatMap(({ value, weight }) => Array<number>(weight).fill(value)).sort((a, b) => a - b);
      for (const q of [0.5, 0.9])
        expect(valueAt(weigh(some), q).ms).toBe(all[Math.ceil(q * all.length - 1e-9) - 1]! / 1000);
    }),
  );
});

it('n is the effective number, and decides what may be shown', () => {
  const even = weigh(Array.from({ length: 298 }, (_, i) => ({ value: i, weight: 7 })));
  expect(even.nEffective).toBe(298);
  expect(valueAt(even, 0.99)).toMatchObject({ ms: null, reason: 'too_few' });
  const uneven = weigh([{ value: 1, weight: 1_000 }, ...Array.from({ length: 999 }, () => ({ value: 2, weight: 1 }))]);
  expect(uneven.nEffective).toBe(3);
  expect(valueAt(weigh([]), 0.5)).toMatchObject({ ms: null, reason: 'no_data' });
  expect(amountAt(even, 0.5)).toMatchObject({ value: 148, n: 298 });
});

it('a mean has the interval of its sums, and no value below 30 requests', () => {
  const mean = meanOf({ weight: 100, weightSquared: 100, sum: 80, sumSquares: 80 });
  expect(mean.value).toBe(0.8);
  expect(mean.high! - mean.low!).toBeCloseTo((2 * 1.959964 * 0.4) / Math.sqrt(99), 9);
  expect(meanOf({ weight: 29, weightSquared: 29, sum: 29, sumSquares: 29 })).toMatchObject({ value: null, n: 29 });
});

/** Log-normal waits (µs). */
function waits(seed: string, n: number, medianUs: number): { value: number; weight: number }[] {
  const draws = createDraws(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - draws.uniform())) * Math.cos(2 * Math.PI * draws.uniform());
  return Array.from({ length: n }, () => ({ value: medianUs * Math.exp(0.6 * normal()), weight: 1 }));
}

it('the interval of a difference covers it in at least 93 of 100, at p50 and p99', () => {
  const z99 = 2.326348;
  const truth = { 0.5: 30, 0.99: 30 * Math.exp(0.6 * z99) };
  for (const q of [0.5, 0.99] as const) {
    let covered = 0;
    for (let run = 0; run < 300; run++) {
      const [a, b] = [waits(`a ${run}`, 1_500, 130_000), waits(`b ${run}`, 700, 100_000)];
      const { lowMs, highMs } = valueDifference(valueAt(weigh(a), q), valueAt(weigh(b), q));
      if (lowMs! <= truth[q] && truth[q] <= highMs!) covered += 1;
    }
    expect(covered / 300).toBeGreaterThan(0.93);
  }
});

it('a difference turns round with its sides; a missing bound or value stays missing', () => {
  const value = (ms: number, lowMs: number | null, highMs: number | null) => ({ ms, lowMs, highMs });
  const [a, b] = [value(300, 280, 330), value(200, 195, 210)];
  expect(valueDifference(a, b)).toEqual({ ms: 100, lowMs: 100 - Math.hypot(20, 10), highMs: 100 + Math.hypot(30, 5) });
  expect(valueDifference(b, a).lowMs).toBeCloseTo(-valueDifference(a, b).highMs!, 9);
  expect(valueDifference(a, value(200, 195, null))).toMatchObject({ lowMs: null });
  const none = { ms: null, lowMs: 5, highMs: null, reason: 'too_few' as const };
  expect(valueDifference(a, none)).toEqual({ ms: null, lowMs: null, highMs: null, reason: 'too_few' });
  expect(claimedSign(valueDifference(a, b), 200)).toBe(1);
  expect(claimedSign(valueDifference(b, a), 300)).toBe(-1);
  expect(claimedSign(value(4, 3, 5), 100), 'below 5 ms').toBe(0);
  expect(claimedSign(value(40, 30, 50), 10_000), 'below 2 %').toBe(0);
  expect(claimedSign(value(400, -10, 800), 1_000), 'reaches 0').toBe(0);
});

it('time per token and tokens per second, and when there are none', () => {
  const stream = aRequest({ e2eUs: 800_000, ttftUs: 200_000, decodeUs: 600_000, outputTokens: 200 });
  expect(tpotUs(stream)).toBeCloseTo(600_000 / 199, 6);
  expect(tokensPerSecond(stream)).toBe(250);
  expect(tpotUs({ ...stream, outputTokens: 1 })).toBeNull();
  expect(tpotUs({ ...stream, ttftUs: 800_000, decodeUs: 0 }), 'no stream seen').toBeNull();
  expect(tpotUs({ ...stream, outcome: 'cancelled' })).toBeNull();
  expect(tokensPerSecond({ ...stream, outputTokens: null })).toBeNull();
  expect(tokensPerSecond({ ...stream, outputTokens: 0 })).toBeNull();
});
