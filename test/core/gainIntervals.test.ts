// Intervals of gains: the lower end on simulated truth, and what reading a sample instead of all requests costs.
import { describe, expect, it } from 'vitest';
import { addToSample, createSample, DAY_LIMITS } from '@/lib/core/sample';
import { encodeSample, openSample, sampleRows } from '@/lib/core/sampleCodec';
import { populationOf } from '@/lib/core/strata';
import { gainsOf, lowerEndErrs, rowsOf, SHAPES } from '../support/simulatedGains';

describe('the lower end of a gain errs in at most 5 % of weeks', () => {
  it.each(Object.keys(SHAPES))('%s, 1,000 requests', (shape) => {
    const weeks = 40;
    const wrong = lowerEndErrs(shape, { n: 1000, weeks, firstSeed: 1 });
    // 5 %, and what 40 weeks can be off by chance; the long run is test/full
    for (const key of ['p50', 'p90', 'p99'] as const) expect(wrong[key], key).toBeLessThanOrEqual(5);
  });
});

describe('100,000 requests over 28 days, read from the sample of each day', () => {
  it.each(Object.keys(SHAPES))('%s: an interval at most 1.5 times that of all', (shape) => {
    const rows = rowsOf(SHAPES[shape]!, 100_000, 7);
    const days = Array.from({ length: 28 }, (_, day) => {
      const sample = createSample(DAY_LIMITS);
      for (let i = day; i < rows.length; i += 28) addToSample(sample, rows[i]!, 'e2e');
      return openSample(encodeSample(sample));
    });
    const kept = sampleRows(days, 12_288).rows;
    expect(kept.length).toBeLessThanOrEqual(12_288 + 28);
    const all = gainsOf(rows, 'a').p99;
    const sampled = gainsOf(kept, 'a').p99;
    const width = (value: typeof all) => value.highMs! - value.lowMs!;
    expect(width(sampled)).toBeLessThanOrEqual(1.5 * width(all));
    expect(sampled.lowMs!).toBeLessThanOrEqual(all.highMs!);
    expect(sampled.highMs!).toBeGreaterThanOrEqual(all.lowMs!);
  });

  it('counts the requests that its rows stand for, not its rows', () => {
    const sample = createSample(DAY_LIMITS);
    for (const row of rowsOf(SHAPES.steady!, 20_000, 3)) addToSample(sample, row, 'e2e');
    const { rows } = sampleRows([openSample(encodeSample(sample))], 8_192);
    expect(rows.length).toBeLessThan(500);
    expect(populationOf(rows).nEffective).toBe(20_000);
    expect(gainsOf(rows, 'a').p99).toMatchObject({ ms: 300, lowMs: 300, highMs: 300 });
    // Some rows of a bucket taken away by a filter: its total is not known any more
    expect(populationOf(rows.filter((_, i) => i % 2 === 0)).nEffective).toBeLessThan(500);
  });
});
