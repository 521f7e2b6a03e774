// What another model would bring on an endpoint in place of the current one, and whether that may be recommended.

import type { Value } from '../estimate';
import { match } from './matching';
import { newcombe, type Share, type ShareDifference } from './proportion';
import { type Case, type Factor, toldFactors, unitsOf } from './units';
import { claimedSign, valueDifference } from './valueDifference';
import { type Amount, valueAt } from './weighed';

/** Why a swap is not recommended. */
export type SwapReason =
  | 'success_may_drop'
  | 'success_unknown'
  | 'quality_drops'
  | 'slower'
  | 'no_gain'
  | 'little_matched';

/** One percentile of the current traffic: as it is, as the candidate serves the same kind of it, and the gain. */
export type SwapQuantile = { current: Value; candidate: Value; gain: Value };

export type Swap = {
  p50: SwapQuantile;
  p99: SwapQuantile;
  matchedOn: Factor[];
  /** Share of the current model's requests that the candidate has counterparts of. */
  matchedShare: number | null;
  /** Candidate − current; null when one of them has no requests that ended. */
  success: ShareDifference | null;
  quality: { difference: number; low: number; high: number } | null;
  isRecommended: boolean;
  reasons: SwapReason[];
};

/** Only input tokens and region: how much a model answers is its own doing, and part of what a swap changes. */
const MATCH_ON: readonly Factor[] = ['region', 'inputTokens'];
/** Below this share the candidate has been seen on other traffic than it would get. */
const SMALLEST_MATCH = 0.5;

export type SwapSide = { cases: readonly Case[]; success: Share; quality: Amount };

/** `dropMax`: how much lower (a share, 0.005 is half a point) success may be at the worst. */
export function swapOf(current: SwapSide, candidate: SwapSide, dropMax: number): Swap {
  const matchedOn = toldFactors([current.cases, candidate.cases], MATCH_ON);
  const matched = match(unitsOf(current.cases, matchedOn), unitsOf(candidate.cases, matchedOn), 'reference');
  const at = (q: number): SwapQuantile => {
    const [now, then] = [valueAt(matched.reference, q), valueAt(matched.candidate, q)];
    return { current: now, candidate: then, gain: valueDifference(now, then) };
  };
  const [p50, p99] = [at(0.5), at(0.99)];
  const success = newcombe(candidate.success, current.success);
  const quality = amountDifference(candidate.quality, current.quality);
  const signs = [p50, p99].map(({ current: now, gain }) => claimedSign(gain, now.ms ?? 0));
  const reasons: SwapReason[] = [];
  if (success === null) reasons.push('success_unknown');
  else if (success.low < -dropMax) reasons.push('success_may_drop');
  if (quality !== null && quality.high < 0) reasons.push('quality_drops');
  if (matched.referenceShare === null || matched.referenceShare < SMALLEST_MATCH) reasons.push('little_matched');
  if (signs.includes(-1)) reasons.push('slower');
  else if (!signs.includes(1)) reasons.push('no_gain');
  return {
    ...{ p50, p99, matchedOn, matchedShare: matched.referenceShare, success, quality },
    ...{ isRecommended: reasons.length === 0, reasons },
  };
}

/** A difference of two means of different requests; null when one is not known. */
function amountDifference(minuend: Amount, subtrahend: Amount): Swap['quality'] {
  const [a, b] = [minuend, subtrahend];
  if (a.value === null || b.value === null || a.low === null || b.high === null) return null;
  if (a.high === null || b.low === null) return null;
  const difference = a.value - b.value;
  return {
    difference,
    low: difference - Math.hypot(a.value - a.low, b.high - b.value),
    high: difference + Math.hypot(a.high - a.value, b.value - b.low),
  };
}
