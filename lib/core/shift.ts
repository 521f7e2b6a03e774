// How a distribution moved: every percentile before and after, the difference with its interval, and whether it may be
// called a change at all.
//
// A change is claimed only when the two intervals are disjoint, or when the share of requests slower than the old
// percentile differs in a two-proportion test at p < 0.01.

import type { Value } from './estimate';
import { bucketValueUs, effectiveN, type Histogram } from './histogram';
import { claimedChange, toValue } from './quantile';
import { proportionP } from './selection';

export type Shift = {
  /** 0 < q < 1. */
  q: number;
  before: Value;
  after: Value;
  /** after − before; null when one of them has no value. Bounds: from the two 95 % intervals, so rather too wide. */
  differenceMs: number | null;
  lowMs: number | null;
  highMs: number | null;
  isClaimed: boolean;
};

const CHANCE = 0.01;

/** Share of the weight above a duration (µs); null when empty. */
export function shareAbove(histogram: Histogram, us: number): number | null {
  if (histogram.weight <= 0) return null;
  let above = 0;
  for (const [index, weight] of histogram.buckets) if (bucketValueUs(index, histogram.scale) > us) above += weight;
  return above / histogram.weight;
}

/** One percentile before and after. */
export function shiftOf(before: Histogram, after: Histogram, q: number): Shift {
  const [was, is] = [toValue(before, q), toValue(after, q)];
  const differenceMs = was.ms === null || is.ms === null ? null : is.ms - was.ms;
  const minus = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
  return {
    ...{ q, before: was, after: is, differenceMs },
    lowMs: differenceMs === null ? null : minus(is.lowMs, was.highMs),
    highMs: differenceMs === null ? null : minus(is.highMs, was.lowMs),
    isClaimed:
      differenceMs !== null && differenceMs !== 0 && (claimedChange(was, is) || isShareMoved(before, after, was)),
  };
}

function isShareMoved(before: Histogram, after: Histogram, was: Value): boolean {
  if (was.ms === null) return false;
  const [old, now] = [shareAbove(before, was.ms * 1000), shareAbove(after, was.ms * 1000)];
  if (old === null || now === null) return false;
  return proportionP({ share: old, n: effectiveN(before) }, { share: now, n: effectiveN(after) }) < CHANCE;
}
