// One middle quantile of every distribution by the ranks it moves to, instead of walking there in each replicate.
//
// In a replicate the mass above the quantile's place is off by Z_d = Σ (m_i − 1)·w_i·(1[i above, in d] − (1 − q)), which
// is normal in the middle, with covariance Σ w_i²·(…)_d·(…)_e between distributions d and e. A stratum of total T has
// two parts of its own: T varies with its requests, and which of them were kept varies the share p of it that is above.

import { massAbove, type Resampled, type Walked } from './bootstrap';
import type { Population } from './strata';

type Shift = Resampled & { k: number; normal: () => number };

/** Fills quantile `k` of every replicate and distribution. */
export function shiftRanks(distributions: readonly Walked[], population: Population, shift: Shift): void {
  const { quantilesUs, replicates, qs, k, normal } = shift;
  const q = qs[k]!;
  const limit = massAbove(q, population.total);
  const count = distributions.length;
  const masks = new Float64Array(population.weights.length);
  const massesAbove = distributions.map(({ order, weights }, d) => {
    const above = new Float64Array(weights.length + 1);
    for (let i = weights.length - 1; i >= 0; i--) {
      above[i] = above[i + 1]! + weights[i]!;
      if (above[i]! <= limit) masks[order[i]!]! += 2 ** d;
    }
    return above;
  });
  const factor = lowerFactor(covarianceOf(population, { masks, count, q }));
  const z = new Float64Array(count);
  for (let r = 0; r < replicates; r++) {
    for (let d = 0; d < count; d++) z[d] = normal();
    for (let d = 0; d < count; d++) {
      let off = 0;
      for (let e = 0; e <= d; e++) off += factor[d]![e]! * z[e]!;
      quantilesUs[d]![r * qs.length + k] = valueAt(distributions[d]!, massesAbove[d]!, limit - off);
    }
  }
}

/** Covariance of Z; `masks`: in which distributions each request is above, as bits. */
function covarianceOf(population: Population, of: { masks: Float64Array; count: number; q: number }): Float64Array[] {
  const { masks, count, q } = of;
  const { weights, squares, strata, inStratum } = population;
  const covariance = Array.from({ length: count }, () => new Float64Array(count));
  const add = (variance: number, part: Float64Array) => {
    for (let d = 0; d < count; d++) for (let e = 0; e <= d; e++) covariance[d]![e]! += variance * part[d]! * part[e]!;
  };
  const isAbove = (mask: number, d: number) => Math.floor(mask / 2 ** d) % 2;
  const part = new Float64Array(count);
  const bySignature = new Map<number, number>();
  for (let i = 0; i < weights.length; i++)
    if (inStratum[i] === 0) bySignature.set(masks[i]!, (bySignature.get(masks[i]!) ?? 0) + squares[i]!);
  for (const [mask, sum] of bySignature) {
    for (let d = 0; d < count; d++) part[d] = isAbove(mask, d) - (1 - q);
    add(sum, part);
  }
  const share = new Float64Array(count);
  for (const { rows, total, deviation } of strata) {
    share.fill(0);
    for (const i of rows) for (let d = 0; d < count; d++) share[d]! += (isAbove(masks[i]!, d) * weights[i]!) / total;
    for (let d = 0; d < count; d++) part[d] = share[d]! - (1 - q);
    add(deviation * deviation, part);
    // All of a stratum on one side in every distribution: which rows were kept does not matter
    if (rows.every((i) => masks[i] === masks[rows[0]!])) continue;
    for (const i of rows) {
      for (let d = 0; d < count; d++) part[d] = isAbove(masks[i]!, d) - share[d]!;
      add(weights[i]! * weights[i]!, part);
    }
  }
  return covariance;
}

/** The first value from the top whose mass with all above exceeds the limit. `above[i]`: mass of i and all higher. */
function valueAt({ values }: Walked, above: Float64Array, limit: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (above[middle]! > limit) low = middle;
    else high = middle - 1;
  }
  return values[low]!;
}

/** Cholesky's factor of a covariance; a distribution that others determine gets a zero on the diagonal. */
function lowerFactor(covariance: readonly Float64Array[]): Float64Array[] {
  const count = covariance.length;
  const factor = covariance.map(() => new Float64Array(count));
  for (let d = 0; d < count; d++) {
    for (let e = 0; e <= d; e++) {
      let sum = covariance[d]![e]!;
      for (let i = 0; i < e; i++) sum -= factor[d]![i]! * factor[e]![i]!;
      if (d === e) factor[d]![d] = sum > 1e-9 * covariance[d]![d]! ? Math.sqrt(sum) : 0;
      else factor[d]![e] = factor[e]![e]! === 0 ? 0 : sum / factor[e]![e]!;
    }
  }
  return factor;
}
