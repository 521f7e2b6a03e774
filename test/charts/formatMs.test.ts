import { describe, expect, it } from 'vitest';
import { explainValue, formatCount, formatMs, formatRatio, formatValue } from '@/lib/charts/formatMs';

describe('numbers as shown', () => {
  it.each([
    [null, '–'],
    [0, '0 ms'],
    [4.24, '4.2 ms'],
    [-0.01, '0 ms'],
    [2666.4, '2,666 ms'],
    [12_400, '12.4 s'],
    [-12_400, '-12.4 s'],
  ])('%s ms is shown as "%s"', (ms, shown) => expect(formatMs(ms)).toBe(shown));

  it('a percentile of too few requests is a bound or nothing, never a number', () => {
    const few = { ms: null, highMs: null, reason: 'too_few' } as const;
    expect(formatValue({ ...few, lowMs: 300 })).toBe('≥ 300 ms');
    expect(formatValue({ ...few, lowMs: null })).toBe('–');
    expect(explainValue({ ...few, lowMs: 300 })).toMatch(/too few/);
    expect(formatValue({ ms: null, lowMs: null, highMs: null, reason: 'no_data' })).toBe('–');
  });

  it('an interval has both ends with units, or says that there is only one', () => {
    expect(explainValue({ ms: 100, lowMs: 90, highMs: 120 })).toBe('90 ms to 120 ms (95 %)');
    expect(explainValue({ ms: 100, lowMs: 90, highMs: null })).toBe('at least 90 ms (95 %)');
  });

  it('never rounds a miss up to 100 %', () => {
    expect(formatRatio(0.99999, 1)).toBe('99.9 %');
    expect(formatRatio(1, 1)).toBe('100 %');
    expect(formatRatio(-0.5, 1)).toBe('-50 %');
    expect(formatRatio(null)).toBe('–');
    expect(formatCount(12_345)).toBe('12,345');
  });
});
