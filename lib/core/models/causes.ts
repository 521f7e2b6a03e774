// "Longer prompts" or "a slower model"? A percentile of two groups of requests differs because they hold other requests, or
// because the same requests take longer. The first group is given the second one's mix step by step:
//
//   before ─ its prompts ─► ─ its answers ─► ─ its load ─► ─ the rest: slower at equal requests ─► after
//
// Each step is a difference of percentiles of real distributions, and all of them add up to the whole difference within
// the common support (matching). Only what lies beyond chance is called a cause.

import type { Value } from '../estimate';
import { commonStrata, mixOf, reweigh, type Unit } from './matching';
import { type Case, type Factor, toldFactors, unitsOf } from './units';
import { claimedSign, valueDifference } from './valueDifference';
import { valueAt, type Weighed } from './weighed';

/** `same`: what is left when region, tokens and load are the same. */
export type CauseName = Factor | 'same';
export type Cause = { cause: CauseName; difference: Value; isClaimed: boolean };

export type Causes = {
  before: Value;
  after: Value;
  difference: Value;
  isClaimed: boolean;
  causes: Cause[];
  /** Share of each group in the common support; null without requests. */
  beforeShare: number | null;
  afterShare: number | null;
};

const SMALLEST_SUPPORT = 0.5;

/** Why a percentile of `after` differs from that of `before`; factors that most requests do not tell are left out. */
export function causesOf(question: {
  before: readonly Case[];
  after: readonly Case[];
  factors: readonly Factor[];
  q: number;
}): Causes {
  const { before, after, q } = question;
  const factors = toldFactors([before, after], question.factors);
  const [first, last] = [unitsOf(before, factors), unitsOf(after, factors)];
  const strata = commonStrata(first, last);
  const inside = (cases: readonly Case[], units: readonly Unit[]) =>
    cases.filter((_, i) => units[i]!.stratum !== null && strata.has(units[i]!.stratum!));
  const [a, b] = [inside(before, first), inside(after, last)];
  const steps = factors.map((_, i) => reweighed(a, b, factors.slice(0, i + 1)));
  const values = [reweighed(a, a, []), ...steps, reweighed(b, b, [])].map((weighed) => valueAt(weighed, q));
  const [was, is] = [values[0]!, values.at(-1)!];
  const shareOf = (some: readonly Case[], all: readonly Case[]) => {
    const weight = (cases: readonly Case[]) => cases.reduce((sum, one) => sum + one.weight, 0);
    return all.length === 0 ? null : weight(some) / weight(all);
  };
  const [beforeShare, afterShare] = [shareOf(a, before), shareOf(b, after)];
  const isComparable = Math.min(beforeShare ?? 0, afterShare ?? 0) >= SMALLEST_SUPPORT;
  const isReal = (difference: Value) => isComparable && claimedSign(difference, was.ms ?? 0) !== 0;
  const difference = valueDifference(is, was);
  const causes = [...factors, 'same' as const].map((cause, i): Cause => {
    const step = valueDifference(values[i + 1]!, values[i]!);
    return { cause, difference: step, isClaimed: isReal(difference) && isReal(step) };
  });
  return {
    ...{ before: was, after: is, difference, isClaimed: isReal(difference), causes },
    ...{ beforeShare, afterShare },
  };
}

/** `cases` with the mix that `like` has of these factors. */
function reweighed(cases: readonly Case[], like: readonly Case[], factors: readonly Factor[]): Weighed {
  const units = unitsOf(like, factors);
  return reweigh(unitsOf(cases, factors), mixOf(units, new Set(units.map(({ stratum }) => stratum ?? ''))));
}
