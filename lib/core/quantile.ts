// From counts to what is shown: the one display rule of every percentile, in page, tooltip, API, CSV and mail.

import { QUANTILE_KEYS, QUANTILE_OF, type QuantileKey, type Quantiles, type Value } from './estimate';
import { effectiveN, type Histogram, quantilesUs, quantileUs } from './histogram';
import { intervalRanks, lowerRank, smallestN } from './interval';

const NO_DATA: Value = { ms: null, lowMs: null, highMs: null, reason: 'no_data' };

const toMs = (us: number | null) => (us === null ? null : us / 1000);

/** Reads a quantile for each of the ascending fractions. */
type ReadUs = (qs: readonly number[]) => (number | null)[];

/**
 * The display rule: no value below the smallest n that bounds the quantile from one side ("≥ x(l), too few"), then a
 * lower bound only, then an interval. `n` is the effective number of requests; `read` gives nearest-rank quantiles (µs).
 */
export function displayValue(n: number, q: number, read: ReadUs): Value {
  if (n <= 0) return NO_DATA;
  const { oneSided, twoSided } = smallestN(q);
  if (n < oneSided) {
    const low = intervalRanks(n, q).low;
    return { ms: null, lowMs: low === null ? null : toMs(read([low / n])[0]!), highMs: null, reason: 'too_few' };
  }
  const low = n < twoSided ? lowerRank(n, q, 0.05) : intervalRanks(n, q).low;
  const high = n < twoSided ? null : intervalRanks(n, q).high;
  const [lowUs, us, highUs] = read([(low ?? 1) / n, q, (high ?? n) / n]);
  if (us === null || us === undefined) return NO_DATA;
  return {
    ms: us / 1000,
    lowMs: low === null ? null : toMs(lowUs ?? null),
    highMs: high === null ? null : toMs(highUs ?? null),
  };
}

/** One percentile of a histogram by the display rule. */
export function toValue(histogram: Histogram, q: number): Value {
  return displayValue(effectiveN(histogram), q, (qs) => quantilesUs(histogram, qs));
}

/** All percentiles of one population; n counts requests. */
export function toQuantiles(histogram: Histogram): Quantiles {
  const values = Object.fromEntries(QUANTILE_KEYS.map((key) => [key, toValue(histogram, QUANTILE_OF[key])]));
  return {
    n: histogram.n,
    maxMs: histogram.n > 0 ? toMs(quantileUs(histogram, 1)) : null,
    ...(values as Record<QuantileKey, Value>),
  };
}

/** Nearest-rank quantile of rows sorted ascending: the smallest value whose cumulated weight reaches q·Σw. */
export function quantileOfSorted(values: ArrayLike<number>, weights: ArrayLike<number>, q: number): number | null {
  let total = 0;
  for (let i = 0; i < weights.length; i++) total += weights[i]!;
  const target = q * total - 1e-9 * Math.max(1, total);
  let seen = 0;
  for (let i = 0; i < values.length; i++) {
    seen += weights[i]!;
    if (seen >= target) return values[i]!;
  }
  return values.length > 0 ? values[values.length - 1]! : null;
}

/** A change is claimed only when the two intervals do not touch. */
export function claimedChange(before: Value, after: Value): boolean {
  if (before.ms === null || after.ms === null) return false;
  const above = (a: Value, b: Value) => a.lowMs !== null && b.highMs !== null && a.lowMs > b.highMs;
  return above(before, after) || above(after, before);
}
