// Paired Poisson bootstrap of several quantiles of several distributions over the same requests.
//
// Replicate b gives request i the multiplicity m_i ~ Poisson(1), shared by every distribution, so what they have in
// common cancels in their differences. Each distribution is sorted once; a replicate only walks the order from the top
// down to the lowest quantile asked for. Unpaired bounds would never name a stable 300 ms of geography.

import { hash53 } from './hash';

/** Ascending values (µs) and which request each belongs to. */
export type Sorted = { values: Float64Array; order: Uint32Array };

/** Sorts non-negative integers, fast where value and index fit one double together. */
export function sorted(values: Float64Array): Sorted {
  const n = values.length;
  const scale = 2 ** Math.ceil(Math.log2(Math.max(2, n)));
  const keys = new Float64Array(n);
  let fits = true;
  for (let i = 0; i < n; i++) {
    const key = values[i]! * scale + i;
    if (key > Number.MAX_SAFE_INTEGER) fits = false;
    keys[i] = key;
  }
  const order = new Uint32Array(n);
  const out = new Float64Array(n);
  if (!fits) {
    const indexes = Array.from({ length: n }, (_, i) => i).sort((a, b) => values[a]! - values[b]! || a - b);
    indexes.forEach((at, i) => {
      order[i] = at;
      out[i] = values[at]!;
    });
    return { values: out, order };
  }
  keys.sort();
  for (let i = 0; i < n; i++) {
    out[i] = Math.floor(keys[i]! / scale);
    order[i] = keys[i]! - out[i]! * scale;
  }
  return { values: out, order };
}

/** A distribution ready to be walked: the weights in its own order, so that a walk reads memory in sequence. */
export type Walked = Sorted & { weights: Float64Array };

export function walked(values: Float64Array, weights: Float64Array): Walked {
  const { values: ascending, order } = sorted(values);
  return { values: ascending, order, weights: Float64Array.from(order, (at) => weights[at]!) };
}

/**
 * Nearest-rank weighted quantiles (µs) for descending fractions: the smallest value with cum(≤ x) ≥ q·Σw, found as the
 * first from the top whose mass with all above exceeds (1 − q)·Σw. Each request counts `times` over. Writes from `at`.
 */
export function quantilesFromTop(
  from: Walked,
  times: Uint8Array,
  target: { qs: readonly number[]; total: number; into: Float64Array; at: number },
): void {
  const { values, order, weights } = from;
  let above = 0;
  let j = order.length - 1;
  for (let k = 0; k < target.qs.length; k++) {
    const limit = (1 - target.qs[k]! + 1e-9) * target.total;
    while (j > 0) {
      const next = above + times[order[j]!]! * weights[j]!;
      if (next > limit) break;
      above = next;
      j--;
    }
    target.into[target.at + k] = values[j]!;
  }
}

/** Multiplicity by 16 random bits. */
function poissonTable(): Uint8Array {
  const table = new Uint8Array(65_536);
  let k = 0;
  let p = Math.exp(-1);
  let cumulative = p;
  for (let i = 0; i < table.length; i++) {
    while ((i + 0.5) / table.length > cumulative && k < 12) {
      k += 1;
      p /= k;
      cumulative += p;
    }
    table[i] = k;
  }
  return table;
}

export type Resampled = {
  /** Distribution → replicate × quantile (µs), row by row. */
  quantilesUs: Float64Array[];
  replicates: number;
  qs: readonly number[];
};

/**
 * Quantiles (descending `qs`) of each distribution in each replicate. The same seed and weights give the same draws,
 * so results of separate calls stay paired.
 */
export function resample(
  distributions: readonly Walked[],
  weights: Float64Array,
  options: { qs: readonly number[]; replicates: number; seed: string },
): Resampled {
  const { qs, replicates, seed } = options;
  const n = weights.length;
  const table = poissonTable();
  const times = new Uint8Array(n + 1);
  const quantilesUs = distributions.map(() => new Float64Array(replicates * qs.length));
  const start = hash53(seed);
  let a = (start >>> 0) | 1;
  let b = Math.floor(start / 4_294_967_296) ^ 0x9e3779b9;
  let c = 0x243f6a88;
  let counter = 1;
  for (let r = 0; r < replicates; r++) {
    let total = 0;
    for (let i = 0; i < n; i += 2) {
      // sfc32: small, fast, passes the usual batteries
      const bits = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + bits) | 0;
      const first = table[bits & 0xffff]!;
      const second = table[bits >>> 16]!;
      times[i] = first;
      times[i + 1] = second;
      total += first * weights[i]!;
      if (i + 1 < n) total += second * weights[i + 1]!;
    }
    for (let d = 0; d < distributions.length; d++) {
      const target = { qs, total, into: quantilesUs[d]!, at: r * qs.length };
      quantilesFromTop(distributions[d]!, times, target);
    }
  }
  return { quantilesUs, replicates, qs };
}

/** Ascending differences (µs) of one quantile between two distributions, replicate by replicate. */
export function differences(of: Resampled, pair: { minuend: number; subtrahend: number; q: number }): Float64Array {
  const width = of.qs.length;
  const at = of.qs.indexOf(pair.q);
  const out = new Float64Array(of.replicates);
  const from = of.quantilesUs[pair.minuend]!;
  const less = of.quantilesUs[pair.subtrahend]!;
  for (let r = 0; r < of.replicates; r++) out[r] = from[r * width + at]! - less[r * width + at]!;
  return out.sort();
}

/** The value below which this share of the ascending replicates lies. */
export function percentileOfReplicates(ascending: Float64Array, share: number): number {
  const at = Math.min(ascending.length - 1, Math.max(0, Math.ceil(share * ascending.length) - 1));
  return ascending[at]!;
}
