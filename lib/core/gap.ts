// Gap = wait − model, request by request: the number the product is about. Whether it is large, whether it is always the
// same, and so where to look first.

import { effectiveN, type Histogram, quantilesUs } from './histogram';

const LARGE_US = 100_000;
const LARGE_SHARE = 0.3;
const STABLE_SPREAD = 0.25;
const STABLE_FROM_N = 100;

export type Gap = {
  /** Requests whose model time is known. */
  n: number;
  medianMs: number | null;
  /** Median of the gap ÷ median of the wait. */
  share: number | null;
  /** Distance between the quartiles ÷ median; null without a median above 0. */
  spread: number | null;
  /** Median ≥ 100 ms and ≥ 30 % of the median wait; null without data. */
  large: boolean | null;
  /** Spread ≤ 0.25; null below 100 requests. */
  stable: boolean | null;
  /** What a large gap points to: what is there for everybody, or what comes and goes. */
  pointsTo: 'placement_and_hops' | 'queue_cold_start_retries' | null;
};

/** Reads the gap from its distribution and that of the wait, of the same scope. */
export function gapOf(gap: Histogram, wait: Histogram): Gap {
  const [lowUs, medianUs, highUs] = quantilesUs(gap, [0.25, 0.5, 0.75]);
  const [waitUs] = quantilesUs(wait, [0.5]);
  if (lowUs == null || medianUs == null || highUs == null || waitUs == null)
    return { n: gap.n, medianMs: null, share: null, spread: null, large: null, stable: null, pointsTo: null };
  const share = waitUs > 0 ? medianUs / waitUs : null;
  const spread = medianUs > 0 ? (highUs - lowUs) / medianUs : null;
  const large = medianUs >= LARGE_US && share !== null && share >= LARGE_SHARE;
  const stable = effectiveN(gap) < STABLE_FROM_N || spread === null ? null : spread <= STABLE_SPREAD;
  const pointsTo = !large || stable === null ? null : stable ? 'placement_and_hops' : 'queue_cold_start_retries';
  return { n: gap.n, medianMs: medianUs / 1000, share, spread, large, stable, pointsTo };
}
