// Intervals of gains: the lower end on simulated truth, and what reading a sample instead of all requests costs.
import { describe, expect, it } from 'vitest';
import { addToSample, createSample, DAY_LIMITS } from '@/lib/core/sample';
import { encodeSample, openSample, sampleRows } from '@/lib/core/sampleCodec';
import { gainsOf, lowerEndErrs, rowsOf, SHAPES } from '../support/simulatedGains';

describe('the lower end of a gain errs in at most 5 % of weeks', () => {
  it.each(Object.keys(SHAPES))('%s, 1,000 requests', (shape) => {
    const weeks = 60;
    const wrong = lowerEndErrs(shape, { n: 1000, weeks, firstSeed: 1 });
    // 5 %, and what 60 weeks can be off by chance; the long run is test/full
    for (const key of ['p50', 'p90', 'p99'] as const) expect(wrong[key], key).toBeLessThanOrEqual(6);
  });
});

describe('the sample of 100,000 requests a day', () => {
  it.each(Object.keys(SHAPES))('%s: an interval at most 1.5 times that of all', (shape) => {
    const rows = rowsOf(SHAPES[shape]!, 100_000, 7);
    const sample = createSample(DAY_LIMITS);
    for (const row of rows) addToSample(sample, { ...row } as never, 'e2e');
    const kept = sampleRows([openSample(encodeSample(sample))], 8_192).rows;
    expect(kept.length).toBeLessThan(8_192);
    const all = gainsOf(rows, 'a').p99;
    const sampled = gainsOf(kept, 'a').p99;
    console.log(shape, kept.length, all, sampled);
    const width = (value: typeof all) => value.highMs! - value.lowMs!;
    expect(width(sampled)).toBeLessThanOrEqual(1.5 * width(all) + 0.5);
    expect(sampled.ms!).toBeGreaterThanOrEqual(all.lowMs! - 0.5 * width(all));
    expect(sampled.ms!).toBeLessThanOrEqual(all.highMs! + 0.5 * width(all));
  });
});
