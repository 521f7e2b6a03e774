// Paired Poisson bootstrap of several quantiles of several distributions over the same requests.
//
// Replicate b gives request i the multiplicity m_i ~ Poisson(1), shared by every distribution, so what they have in
// common cancels in their differences. Unpaired bounds would never name a stable 300 ms of geography. Rows that stand for
// a stratum of a sample share its total, drawn by how many requests that is (strata).
//
//   all requests ─ sorted once a distribution ─┬─ p90 and above: only requests that can lie there are drawn, and each
//                                              │  replicate walks from the top (a tenth of the requests)
//                                              └─ p50: see ranks below
//
// The walk to p50 would cost five times all the others. What moves a middle quantile is only the mass above it, which is
// normal there: replicates draw those masses jointly for all distributions, with the covariance that shared requests
// give them, and read the value at the rank they move to. Small populations are walked whole.

import { hash53 } from './hash';
import { shiftRanks } from './rankShift';
import type { Population } from './strata';

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
export const massAbove = (q: number, total: number) => (1 - q + 1e-9) * total;

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
export function resample(distributions: readonly Walked[], population: Population, options: Options): Resampled {
  const { qs, replicates, seed } = options;
  const quantilesUs = distributions.map(() => new Float64Array(replicates * qs.length));
  const isSmall = population.weights.length <= WALK_ALL_UP_TO;
  const walkedQs = qs.filter((q) => isSmall || q >= WALK_FROM_Q);
  const bits = randomBits(seed);
  const normal = normals(bits);
  const out = { quantilesUs, replicates, qs };
  if (walkedQs.length > 0) walkReplicates(distributions, population, { ...out, walkedQs, bits, normal });
  for (let k = walkedQs.length; k < qs.length; k++) shiftRanks(distributions, population, { ...out, k, normal });
  return out;
}

/** Which requests any distribution's lowest walked quantile may reach, and how deep that is in each. */
function reachOf(distributions: readonly Walked[], { weights, total }: Population, lowestQ: number) {
  const isReached = new Uint8Array(weights.length);
  const limit = massAbove(lowestQ, total);
  const depths = distributions.map(({ order, weights: own }) => {
    let above = 0;
    let squares = 0;
    let j = own.length - 1;
    for (; j >= 0; j--) {
      isReached[order[j]!] = 1;
      if (above - REACH * Math.sqrt(squares) > limit) break;
      above += own[j]!;
      squares += own[j]! * own[j]!;
    }
    return own.length - Math.max(0, j);
  });
  return { isReached, depths };
}

/** Requests drawn one by one, first those without a stratum, then stratum by stratum; all others are a rest. */
function slotsOf(population: Population, isReached: Uint8Array) {
  const { weights, strata, squares, inStratum } = population;
  const slotOf = new Int32Array(weights.length).fill(-1);
  const drawn: number[] = [];
  const rest = { mass: 0, squares: 0 };
  for (let i = 0; i < weights.length; i++) {
    if (inStratum[i] === 1) continue;
    if (isReached[i] === 1) slotOf[i] = drawn.push(weights[i]!) - 1;
    else {
      rest.mass += weights[i]!;
      rest.squares += squares[i]!;
    }
  }
  const plain = drawn.length;
  const shared: { from: number; to: number; total: number; deviation: number }[] = [];
  for (const { rows, total, deviation } of strata) {
    if (rows.every((i) => isReached[i] === 0)) {
      rest.mass += total;
      rest.squares += deviation * deviation;
      continue;
    }
    const from = drawn.length;
    for (const i of rows) slotOf[i] = drawn.push(weights[i]!) - 1;
    shared.push({ from, to: drawn.length, total, deviation });
  }
  return { slotOf, drawn: Float64Array.from(drawn), plain, shared, rest };
}

type Walks = Resampled & { walkedQs: readonly number[]; bits: () => number; normal: () => number };

function walkReplicates(distributions: readonly Walked[], population: Population, walks: Walks): void {
  const { quantilesUs, replicates, qs, walkedQs } = walks;
  const { isReached, depths } = reachOf(distributions, population, walkedQs.at(-1)!);
  const slots = slotsOf(population, isReached);
  const tops = distributions.map(({ values, order }, d) => ({
    values: values.subarray(values.length - depths[d]!).toReversed(),
    slots: Uint32Array.from(order.subarray(order.length - depths[d]!), (i) => slots.slotOf[i]!).reverse(),
  }));
  const mass = new Float64Array(slots.drawn.length + 1);
  for (let r = 0; r < replicates; r++) {
    const total = drawMasses(mass, slots, walks);
    for (let d = 0; d < tops.length; d++) {
      const top = tops[d]!;
      const into = quantilesUs[d]!;
      const last = top.slots.length - 1;
      let above = 0;
      let j = 0;
      for (let k = 0; k < walkedQs.length; k++) {
        const limit = massAbove(walkedQs[k]!, total);
        while (j < last) {
          const next = above + mass[top.slots[j]!]!;
          if (next > limit) break;
          above = next;
          j += 1;
        }
        into[r * qs.length + k] = top.values[j]!;
      }
    }
  }
}

/** Draws the mass of every slot for one replicate; returns the total, what no walk reaches included. */
function drawMasses(mass: Float64Array, slots: ReturnType<typeof slotsOf>, { bits, normal }: Walks): number {
  const { drawn, plain, shared, rest } = slots;
  const n = drawn.length;
  let total = rest.mass === 0 ? 0 : Math.max(0, rest.mass + Math.sqrt(rest.squares) * normal());
  for (let i = 0; i < n; i += 2) {
    const word = bits();
    mass[i] = POISSON[word & 0xffff]! * drawn[i]!;
    if (i + 1 < n) mass[i + 1] = POISSON[word >>> 16]! * drawn[i + 1]!;
  }
  for (let i = 0; i < plain; i++) total += mass[i]!;
  for (const stratum of shared) {
    let sum = 0;
    for (let i = stratum.from; i < stratum.to; i++) sum += mass[i]!;
    const drawnTotal = Math.max(0, stratum.total + stratum.deviation * normal());
    total += drawnTotal;
    if (sum > 0) for (let i = stratum.from; i < stratum.to; i++) mass[i]! *= drawnTotal / sum;
    // No row was drawn: they share alike
    else for (let i = stratum.from; i < stratum.to; i++) mass[i] = drawnTotal / (stratum.to - stratum.from);
  }
  return total;
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
