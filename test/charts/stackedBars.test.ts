import { describe, expect, it } from 'vitest';
import { percentileLabel, stackedBars } from '@/lib/charts/stackedBars';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import type { AnatomyPoint } from '@/lib/core/anatomy';
import { TERMS, type Term } from '@/lib/core/terms';

/** A window with these terms (ms) covered, and no others. */
function point(terms: Partial<Record<Term, number>>): AnatomyPoint {
  const of = (pick: (term: Term) => number) =>
    Object.fromEntries(TERMS.map((t) => [t, pick(t)])) as Record<Term, number>;
  const waitMs = Object.values(terms).reduce((sum, ms) => sum + ms, 0);
  return { percentile: 50, n: 30, waitMs, terms: of((t) => terms[t] ?? 0), coverage: of((t) => (t in terms ? 1 : 0)) };
}

describe('stacked bars', () => {
  it('each bar adds up to the mean wait, a term nobody measured is left out, and one not covered is null', () => {
    const [cold, warm] = [
      point({ coldStart: 2000, model: 100, unattributed: 7 }),
      point({ model: 0, unattributed: 5 }),
    ];
    const bars = stackedBars([
      { label: 'cold', point: cold },
      { label: 'warm', point: warm },
      { label: 'none', point: null },
    ]);
    expect(bars.datasets.map((set) => set.term)).toEqual(['coldStart', 'model', 'unattributed']);
    const sums = [0, 1].map((i) => bars.datasets.reduce((sum, set) => sum + (set.values[i] ?? 0), 0));
    expect(sums).toEqual([cold.waitMs, warm.waitMs]);
    expect(bars.datasets.map((set) => set.values[1])).toEqual([null, 0, 5]);
    expect(bars.datasets.map((set) => set.values[2])).toEqual([null, null, null]);
  });

  it('each term has a colour of its own', () => {
    expect(new Set(Object.values(TERM_COLOURS)).size).toBe(TERMS.length);
  });

  it('names percentiles', () => expect([1, 99, 99.9].map(percentileLabel)).toEqual(['p1', 'p99', 'p99.9']));
});
