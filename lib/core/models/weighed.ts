// Numbers that count for several requests each: their percentiles and means by the one display rule. n in every rule is
// the effective (Σw)² ÷ Σw² (Kish), also for rows of a sample, so an interval is rather too wide than too narrow.

import type { Value } from '../estimate';
import { displayValue } from '../quantile';

/** Ascending values with their weights. */
export type Weighed = { values: Float64Array; weights: Float64Array; total: number; nEffective: number };

/** What is measured of one request or call, and how many it counts for. */
export type Measured = { value: number; weight: number };

export function weigh(measured: readonly Measured[]): Weighed {
  const some = measured.filter(({ weight }) => weight > 0).sort((a, b) => a.value - b.value);
  let total = 0;
  let squares = 0;
  for (const { weight } of some) {
    total += weight;
    squares += weight * weight;
  }
  return {
    values: Float64Array.from(some, ({ value }) => value),
    weights: Float64Array.from(some, ({ weight }) => weight),
    total,
    nEffective: squares > 0 ? Math.floor((total * total) / squares + 1e-6) : 0,
  };
}

/** Nearest-rank quantiles for ascending fractions: the smallest value whose weight with all below reaches q·Σw. */
function quantilesOf({ values, weights, total }: Weighed, qs: readonly number[]): number[] {
  const tiny = 1e-9 * Math.max(1, total);
  let seen = weights[0] ?? 0;
  let at = 0;
  return qs.map((q) => {
    while (at < values.length - 1 && seen < q * total - tiny) seen += weights[++at]!;
    return values[at]!;
  });
}

/** A percentile of durations (µs) in ms. */
export function valueAt(weighed: Weighed, q: number): Value {
  return displayValue(weighed.nEffective, q, (qs) => quantilesOf(weighed, qs));
}

/** A number with its unit told by its name; the same rule as for durations. */
export type Amount = { value: number | null; low: number | null; high: number | null; n: number };

/** A percentile of anything that is no duration. */
export function amountAt(weighed: Weighed, q: number): Amount {
  // displayValue reads µs and gives ms
  const shown = displayValue(weighed.nEffective, q, (qs) => quantilesOf(weighed, qs).map((value) => value * 1_000));
  return { value: shown.ms, low: shown.lowMs, high: shown.highMs, n: weighed.nEffective };
}

const Z95 = 1.959964;
/** Below this a normal interval of a mean says more than is known. */
const FEWEST = 30;

/** A mean from sums: of weights, of their squares, of weight × value and of weight × value². No value below 30 requests. */
export function meanOf(sums: { weight: number; weightSquared: number; sum: number; sumSquares: number }): Amount {
  const { weight, weightSquared, sum, sumSquares } = sums;
  const n = weightSquared > 0 ? Math.floor((weight * weight) / weightSquared + 1e-6) : 0;
  if (n < FEWEST) return { value: null, low: null, high: null, n };
  const value = sum / weight;
  const half = Z95 * Math.sqrt(Math.max(0, sumSquares / weight - value * value) / (n - 1));
  return { value, low: value - half, high: value + half, n };
}
