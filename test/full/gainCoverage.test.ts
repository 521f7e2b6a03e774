// How often the lower end of a gain's interval lies above the true gain: at most 5 % of simulated weeks.
import { describe, expect, it } from 'vitest';
import { lowerEndErrs, SHAPES } from '../support/simulatedGains';

const WEEKS: Record<number, number> = { 400: 300, 1000: 300, 5000: 150, 20000: 60 };

describe.each(Object.keys(WEEKS).map(Number))('the lower end of a gain, %i requests', (n) => {
  it.each(Object.keys(SHAPES))('%s', (shape) => {
    const weeks = WEEKS[n]!;
    const wrong = lowerEndErrs(shape, { n, weeks, firstSeed: 1000 });
    // 5 %, and what so few weeks can be off by chance (two standard deviations)
    const allowed = 0.05 * weeks + 2 * Math.sqrt(0.05 * 0.95 * weeks);
    for (const key of ['p50', 'p90', 'p99'] as const) expect(wrong[key], key).toBeLessThanOrEqual(allowed);
  });
});
