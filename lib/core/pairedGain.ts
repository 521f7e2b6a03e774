// Gains of several options over the same requests: Q_q(wait) − Q_q(wait − saved), with paired bootstrap intervals. What
// an option saves may be negative: then it costs, and so does its gain.

import { differences, percentileOfReplicates, quantilesFromTop, resample, walked } from './bootstrap';
import { QUANTILE_OF, type QuantileKey, type Value } from './estimate';
import { smallestN } from './interval';
import type { SampledRequest } from './request';
import { populationOf } from './strata';

const REPLICATES = 400;

export type PairedInput = {
  rows: readonly SampledRequest[];
  /** µs, one a row. */
  waitUs: Float64Array;
  /** What each option would save each row (µs). */
  savedUs: readonly (readonly number[])[];
  keys: readonly QuantileKey[];
  seed: string;
};

/** One gain an option and percentile, by the display rule of percentiles. No wait becomes negative. */
export function pairedGains({ rows, waitUs, savedUs, keys, seed }: PairedInput): Record<string, Value>[] {
  const qs = [...new Set(keys.map((key) => QUANTILE_OF[key]))].sort((a, b) => b - a);
  if (rows.length === 0) return savedUs.map(() => Object.fromEntries(keys.map((key) => [key, noValue('no_data')])));
  const population = populationOf(rows);
  const left = savedUs.map((saved) => waitUs.map((us, i) => Math.max(0, us - saved[i]!)));
  const distributions = [waitUs, ...left].map((values) => walked(values, population.weights));
  const points = distributions.map((distribution) => quantilesFromTop(distribution, qs, population.total));
  const resampled = resample(distributions, population, { qs, replicates: REPLICATES, seed });
  const gainOf = (option: number, key: QuantileKey): Value => {
    const q = QUANTILE_OF[key];
    const { oneSided, twoSided } = smallestN(q);
    const n = population.nEffective;
    if (n < oneSided) return noValue('too_few');
    const at = qs.indexOf(q);
    const gainUs = points[0]![at]! - points[option + 1]![at]!;
    const spread = differences(resampled, { minuend: 0, subtrahend: option + 1, q });
    const low = percentileOfReplicates(spread, n < twoSided ? 0.05 : 0.025);
    const high = n < twoSided ? null : percentileOfReplicates(spread, 0.975);
    return {
      ms: gainUs / 1000,
      lowMs: Math.min(low, gainUs) / 1000,
      highMs: high === null ? null : Math.max(high, gainUs) / 1000,
    };
  };
  return savedUs.map((_, option) => Object.fromEntries(keys.map((key) => [key, gainOf(option, key)])));
}

function noValue(reason: 'no_data' | 'too_few'): Value {
  return { ms: null, lowMs: null, highMs: null, reason };
}
