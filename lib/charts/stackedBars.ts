import type { AnatomyPoint } from '../core/anatomy';
import { TERM_LABELS, TERMS, type Term } from '../core/terms';
import { TERM_COLOURS } from './termColours';

/** Stacked bars: one data set a term, one value (ms) a label; null where nothing was measured. */
export type StackedBars = {
  labels: string[];
  datasets: { term: Term; label: string; colour: string; values: (number | null)[] }[];
};

/** Bars of anatomy windows. A term that no window covers is left out; one that a window does not cover is null there. */
export function stackedBars(rows: readonly { label: string; point: AnatomyPoint | null }[]): StackedBars {
  const terms = TERMS.filter((term) => rows.some(({ point }) => point !== null && isCovered(point, term)));
  return {
    labels: rows.map((row) => row.label),
    datasets: terms.map((term) => ({
      term,
      label: TERM_LABELS[term],
      colour: TERM_COLOURS[term],
      values: rows.map(({ point }) => (point !== null && isCovered(point, term) ? point.terms[term] : null)),
    })),
  };
}

/** "p99.9" for 99.9. */
export function percentileLabel(percentile: number): string {
  return `p${Number(percentile.toFixed(2))}`;
}

function isCovered(point: AnatomyPoint, term: Term): boolean {
  return point.coverage[term] > 0;
}
