// Paired Poisson bootstrap of several quantiles of several distributions over the same requests.
//
// Replicate b gives request i the multiplicity m_i ~ Poisson(1), shared by every distribution, so what they have in
// common cancels in their differences. Unpaired bounds would never name a stable 300 ms of geography.
//
//   all requests ─ sorted once a distribution ─┬─ p90 and above: only requests that can lie there are drawn, and each
//                                              │  replicate walks from the top (a tenth of the requests)
//                                              └─ p50: see ranks below
//
// The walk to p50 would cost five times all the others. What moves a middle quantile is only the mass above it, which is
// normal there: replicates draw those masses jointly for all distributions, with the covariance that shared requests
// give them, and read the value at the rank they move to. Small populations are walked whole.

import { hash53 } from './hash';

/** Ascending values (µs), which request each belongs to, and the weights in that order. */
export type Walked = { values: Float64Array; order: Uint32Array; weights: Float64Array };

/** Sorts non-negative integers, fast where value and index fit one double together. */
export function walked(values: Float64Array, weights: Float64Array): Walked {
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
  if (fits) {
    keys.sort();
    for (let i = 0; i < n; i++) order[i] = keys[i]! % scale;
  } else {
    const indexes = Array.from({ length: n }, (_, i) => i).sort((a, b) => values[a]! - values[b]! || a - b);
    order.set(indexes);
  }
  const out = { values: new Float64Array(n), order, weights: new Float64Array(n) };
  for (let i = 0; i < n; i++) {
    out.values[i] = values[order[i]!]!;
    out.weights[i] = weights[order[i]!]!;
  }
  return out;
}

/**
 * Nearest-rank weighted quantiles (µs) for descending fractions: the smallest value with cum(≤ x) ≥ q·Σw, found as the
 * first from the top whose mass with all above exceeds (1 − q)·Σw.
 */
export function quantilesFromTop({ values, weights }: Walked, qs: readonly number[], total: number): Float64Array {
  const out = new Float64Array(qs.length);
  let above = 0;
  let j = values.length - 1;
  qs.forEach((q, k) => {
    const limit = massAbove(q, total);
    while (j > 0 && above + weights[j]! <= limit) above += weights[j--]!;
    out[k] = values[j]!;
  });
  return out;
}

/** What may lie above a quantile. The 1e-9 keeps a rank that is whole from being missed by rounding. */
const massAbove = (q: number, total: number) => (1 - q + 1e-9) * total;

/** Multiplicity by 16 random bits. */
const POISSON = poissonTable();
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

/** 32 random bits a call. sfc32: small, fast, passes the usual batteries. */
function randomBits(seed: string): () => number {
  const start = hash53(seed);
  let a = (start >>> 0) | 1;
  let b = Math.floor(start / 4_294_967_296) ^ 0x9e3779b9;
  let c = 0x243f6a88;
  let counter = 1;
  return () => {
    const bits = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + bits) | 0;
    return bits;
  };
}

/** Standard normal draws (Box and Muller, one of each pair). */
function normals(bits: () => number): () => number {
  const uniform = () => ((bits() >>> 0) + 0.5) / 4_294_967_296;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

export type Resampled = {
  /** Distribution → replicate × quantile (µs), row by row. */
  quantilesUs: Float64Array[];
  replicates: number;
  qs: readonly number[];
};

type Options = { qs: readonly number[]; replicates: number; seed: string };
/** Up to so many requests are walked whole; beyond, quantiles below this one are read from ranks. */
const WALK_ALL_UP_TO = 1_024;
const WALK_FROM_Q = 0.9;
/** How far below its rank a quantile of a replicate may lie, in standard deviations of the mass above. */
const REACH = 8;

/** Quantiles (descending `qs`) of each distribution in each replicate. The same question gives the same draws. */
export function resample(distributions: readonly Walked[], weights: Float64Array, options: Options): Resampled {
  const { qs, replicates, seed } = options;
  const quantilesUs = distributions.map(() => new Float64Array(replicates * qs.length));
  const isSmall = weights.length <= WALK_ALL_UP_TO;
  const walkedQs = qs.filter((q) => isSmall || q >= WALK_FROM_Q);
  const bits = randomBits(seed);
  const out = { quantilesUs, replicates, qs };
  if (walkedQs.length > 0) walkReplicates(distributions, weights, { ...out, walkedQs, bits });
  for (let k = walkedQs.length; k < qs.length; k++) shiftRanks(distributions, weights, { ...out, k, bits });
  return out;
}

/** The top of a distribution, highest first: values, and where each request's mass of a replicate lies. */
type Top = { values: Float64Array; slots: Uint32Array };

/** The requests that any distribution's lowest walked quantile may reach, each with a slot; all others are a rest. */
function topsOf(distributions: readonly Walked[], weights: Float64Array, lowestQ: number) {
  const n = weights.length;
  const slotOf = new Int32Array(n).fill(-1);
  const drawn: number[] = [];
  const total = weights.reduce((sum, w) => sum + w, 0);
  const tops = distributions.map(({ values, order, weights: own }): Top => {
    let above = 0;
    let squares = 0;
    let j = n - 1;
    const limit = massAbove(lowestQ, total);
    while (j > 0 && above - REACH * Math.sqrt(squares) <= limit) {
      above += own[j]!;
      squares += own[j]! * own[j]!;
      j -= 1;
    }
    const top = { values: new Float64Array(n - j), slots: new Uint32Array(n - j) };
    for (let i = n - 1; i >= j; i--) {
      const request = order[i]!;
      if (slotOf[request] === -1) slotOf[request] = drawn.push(weights[request]!) - 1;
      top.values[n - 1 - i] = values[i]!;
      top.slots[n - 1 - i] = slotOf[request]!;
    }
    return top;
  });
  let restSquares = 0;
  let rest = 0;
  for (let i = 0; i < n; i++) {
    if (slotOf[i] !== -1) continue;
    rest += weights[i]!;
    restSquares += weights[i]! * weights[i]!;
  }
  return { tops, drawn: Float64Array.from(drawn), rest: { mass: rest, deviation: Math.sqrt(restSquares) } };
}

type Walks = Resampled & { walkedQs: readonly number[]; bits: () => number };

function walkReplicates(distributions: readonly Walked[], weights: Float64Array, walks: Walks): void {
  const { quantilesUs, replicates, qs, walkedQs, bits } = walks;
  const { tops, drawn, rest } = topsOf(distributions, weights, walkedQs.at(-1)!);
  const normal = normals(bits);
  const n = drawn.length;
  const mass = new Float64Array(n + 1);
  for (let r = 0; r < replicates; r++) {
    // What no walk reaches counts only in the total
    let total = rest.mass === 0 ? 0 : Math.max(0, rest.mass + rest.deviation * normal());
    for (let i = 0; i < n; i += 2) {
      const word = bits();
      mass[i] = POISSON[word & 0xffff]! * drawn[i]!;
      total += mass[i]!;
      if (i + 1 === n) break;
      mass[i + 1] = POISSON[word >>> 16]! * drawn[i + 1]!;
      total += mass[i + 1]!;
    }
    for (let d = 0; d < tops.length; d++) {
      const { values, slots } = tops[d]!;
      const into = quantilesUs[d]!;
      const last = slots.length - 1;
      let above = 0;
      let j = 0;
      for (let k = 0; k < walkedQs.length; k++) {
        const limit = massAbove(walkedQs[k]!, total);
        while (j < last) {
          const next = above + mass[slots[j]!]!;
          if (next > limit) break;
          above = next;
          j += 1;
        }
        into[r * qs.length + k] = values[j]!;
      }
    }
  }
}

/**
 * One quantile of every distribution by the ranks it moves to. In a replicate the mass above the quantile's place is off
 * by Z_d = Σ (m_i − 1)·w_i·(1[i above, in d] − (1 − q)): normal, with covariance Σ w_i²·(…)_d·(…)_e.
 */
function shiftRanks(
  distributions: readonly Walked[],
  weights: Float64Array,
  { quantilesUs, replicates, qs, k, bits }: Resampled & { k: number; bits: () => number },
): void {
  const q = qs[k]!;
  const total = weights.reduce((sum, w) => sum + w, 0);
  const limit = massAbove(q, total);
  const count = distributions.length;
  const masks = new Float64Array(weights.length);
  const massesAbove = distributions.map(({ order, weights: own }, d) => {
    const above = new Float64Array(own.length + 1);
    for (let i = own.length - 1; i >= 0; i--) {
      above[i] = above[i + 1]! + own[i]!;
      if (above[i]! <= limit) masks[order[i]!]! += 2 ** d;
    }
    return above;
  });
  const squaresOf = new Map<number, number>();
  weights.forEach((w, i) => {
    squaresOf.set(masks[i]!, (squaresOf.get(masks[i]!) ?? 0) + w * w);
  });
  const covariance = Array.from({ length: count }, () => new Float64Array(count));
  const part = new Float64Array(count);
  for (const [mask, squares] of squaresOf) {
    for (let d = 0; d < count; d++) part[d] = (Math.floor(mask / 2 ** d) % 2) - (1 - q);
    for (let d = 0; d < count; d++) for (let e = 0; e <= d; e++) covariance[d]![e]! += squares * part[d]! * part[e]!;
  }
  const factor = lowerFactor(covariance);
  const normal = normals(bits);
  const z = new Float64Array(count);
  for (let r = 0; r < replicates; r++) {
    for (let d = 0; d < count; d++) z[d] = normal();
    for (let d = 0; d < count; d++) {
      let shift = 0;
      for (let e = 0; e <= d; e++) shift += factor[d]![e]! * z[e]!;
      quantilesUs[d]![r * qs.length + k] = valueAt(distributions[d]!, massesAbove[d]!, limit - shift);
    }
  }
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
