// The display types every number goes through: page, tooltip, API, CSV and mail show the same one.

import type { Evidence, Term } from './terms';

export type Value =
  | { ms: number; lowMs: number | null; highMs: number | null }
  | { ms: null; lowMs: number | null; highMs: null; reason: 'too_few' | 'no_data' };

export const QUANTILE_KEYS = ['p50', 'p90', 'p95', 'p99', 'p999'] as const;
export type QuantileKey = (typeof QUANTILE_KEYS)[number];
export const QUANTILE_OF: Record<QuantileKey, number> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 };
export const QUANTILE_LABELS: Record<QuantileKey, string> = {
  p50: 'p50',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  p999: 'p99.9',
};

/** Percentiles of one population. `n` counts requests, not weights. */
export type Quantiles = { n: number; maxMs: number | null } & Record<QuantileKey, Value>;

/** `coverage`: share of the population that has the term. `evidence`: how most of it is known. */
export type TermQuantiles = Quantiles & { coverage: number | null; evidence: Evidence };
export type AllTermQuantiles = Record<Term, TermQuantiles>;
