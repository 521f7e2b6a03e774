// Gains: what each lever would bring, and the largest avoidable term.
//
// Counterfactual, request by request: cf = wait − saved. Gain at q = Q_q(wait) − Q_q(cf). Percentiles of two terms are
// never subtracted. Intervals come from a paired Poisson bootstrap: replicate b draws m_i ~ Poisson(1) for each row,
// shared by the wait and every lever, so that what is stable in each request stays stable in the interval (unpaired
// order-statistic bounds would never name a steady 300 ms). Seeded, so the same question has the same answer.

import { QUANTILE_KEYS, QUANTILE_OF, type QuantileKey, type Value } from './estimate';
import { hash53 } from './hash';
import { smallestN } from './interval';
import { type FloorInfo, floorsOf, type LeverContext, queueFloorUs, savedUs } from './levers';
import { type SampledRequest, unattributedUs, waitUs } from './request';
import { type Basis, LEVERS, type Lever } from './terms';

export type { FloorInfo } from './levers';

export type GainQuantiles = Record<QuantileKey, Value>;

export type LargestAvoidable = {
  levers: Lever[];
  quantile: QuantileKey;
  gainMs: number;
  lowMs: number | null;
  highMs: number | null;
  /** For geography: the placement that brings it, in words. */
  scenario: string | null;
};

/** Why nothing is named, or how to read what is. */
export type HeadlineReason =
  | 'named' // one lever
  | 'level' // two levers whose gains cannot be told apart
  | 'masked' // a set that only helps together
  | 'instrument_first' // unattributed is more than half of the tail's wait
  | 'nothing_worth_fixing'
  | 'too_few'
  | 'no_data'
  | 'several_endpoints';

export type Analysis = {
  n: number;
  nEffective: number;
  gains: Record<Lever, GainQuantiles>;
  jointGain: GainQuantiles;
  floors: Record<Lever, FloorInfo>;
  largestAvoidable: LargestAvoidable | null;
  reason: HeadlineReason;
  tailLever: { lever: Lever; gainMs: number } | null;
};

const REPLICATES = 400;
const LEAST_GAIN_US = 5_000;
const LEAST_SHARE_OF_P99 = 0.02;
const NO_DATA: Value = { ms: null, lowMs: null, highMs: null, reason: 'no_data' };
const QS = QUANTILE_KEYS.map((key) => QUANTILE_OF[key]);

/** Durations of the rows in ascending order, as row indexes. */
type Ordered = { values: Float64Array; order: Uint32Array };

function ordered(values: Float64Array): Ordered {
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
  return { values, order };
}

/** Nearest-rank quantiles at QS with these row weights, in one pass. */
function quantilesOf({ values, order }: Ordered, weights: Float64Array, total: number): Float64Array {
  const found = new Float64Array(QS.length);
  let seen = 0;
  let next = 0;
  for (let i = 0; i < order.length && next < QS.length; i++) {
    const row = order[i]!;
    const weight = weights[row]!;
    if (weight === 0) continue;
    seen += weight;
    while (next < QS.length && seen >= QS[next]! * total - 1e-9 * total) found[next++] = values[row]!;
  }
  return found;
}

/** Mulberry32: a small, well-spread generator of uniforms. */
function uniforms(seed: string): () => number {
  let state = hash53(seed) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Cumulated Poisson(1) probabilities. */
const POISSON = Array.from({ length: 12 }, (_, k) => k).reduce<number[]>((cumulated, k) => {
  const p = Math.exp(-1) / Array.from({ length: k }, (_, i) => i + 1).reduce((a, b) => a * b, 1);
  cumulated.push((cumulated[k - 1] ?? 0) + p);
  return cumulated;
}, []);

function poisson(uniform: number): number {
  let k = 0;
  while (k < POISSON.length - 1 && uniform > POISSON[k]!) k++;
  return k;
}

/** Gain of one set of levers: at QS, and in every replicate (µs). */
type Gain = { us: number[]; replicates: Float64Array[] };

/** Gains of counterfactuals against the wait, with paired replicates. */
function estimateGains(
  waits: Float64Array,
  counterfactuals: Float64Array[],
  { weights, seed }: { weights: Float64Array; seed: string },
): Gain[] {
  const base = ordered(waits);
  const others = counterfactuals.map(ordered);
  const total = weights.reduce((a, b) => a + b, 0);
  const observed = quantilesOf(base, weights, total);
  const gains: Gain[] = others.map((other) => {
    const after = quantilesOf(other, weights, total);
    return { us: [...observed].map((us, i) => us - after[i]!), replicates: [] };
  });
  const uniform = uniforms(seed);
  const drawn = new Float64Array(weights.length);
  for (let b = 0; b < REPLICATES; b++) {
    let drawnTotal = 0;
    for (let i = 0; i < drawn.length; i++) {
      drawn[i] = weights[i]! * poisson(uniform());
      drawnTotal += drawn[i]!;
    }
    const before = quantilesOf(base, drawn, drawnTotal);
    others.forEach((other, k) => {
      const after = quantilesOf(other, drawn, drawnTotal);
      gains[k]!.replicates.push(before.map((us, i) => us - after[i]!));
    });
  }
  return gains;
}

/** The share-th smallest replicate of a gain at one quantile (µs). */
function bound(replicates: readonly number[], share: number): number {
  const sorted = [...replicates].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

const at = (gain: Gain, q: number) => gain.replicates.map((replicate) => replicate[q]!);

function gainValue(gain: Gain, q: number, n: number): Value {
  const { oneSided, twoSided } = smallestN(QS[q]!);
  if (n < oneSided) return { ms: null, lowMs: null, highMs: null, reason: 'too_few' };
  const replicates = at(gain, q);
  const lowMs = bound(replicates, n < twoSided ? 0.05 : 0.025) / 1000;
  const highMs = n < twoSided ? null : bound(replicates, 0.975) / 1000;
  return { ms: gain.us[q]! / 1000, lowMs, highMs };
}

function gainQuantiles(gain: Gain | null, n: number): GainQuantiles {
  const value = (q: number) => (gain === null ? NO_DATA : gainValue(gain, q, n));
  return Object.fromEntries(QUANTILE_KEYS.map((key, q) => [key, value(q)])) as GainQuantiles;
}

type Measured = { lever: Lever; saved: Float64Array };

type Situation = {
  waits: Float64Array;
  weights: Float64Array;
  seed: string;
  nEffective: number;
  levers: Measured[];
  gains: Map<Lever, Gain>;
  joint: Gain;
};

function minus(waits: Float64Array, saved: readonly Float64Array[]): Float64Array {
  return waits.map((wait, i) =>
    Math.max(
      0,
      saved.reduce((rest, s) => rest - s[i]!, wait),
    ),
  );
}

/** The least gain (µs) worth naming at a quantile. */
function leastGain(situation: Situation, q: number): number {
  const total = situation.weights.reduce((a, b) => a + b, 0);
  const waitAt = quantilesOf(ordered(situation.waits), situation.weights, total)[q]!;
  return Math.max(LEAST_GAIN_US, LEAST_SHARE_OF_P99 * waitAt);
}

type Naming = { largestAvoidable: LargestAvoidable | null; reason: HeadlineReason };

function named(situation: Situation, q: number, set: { levers: Lever[]; gain: Gain; reason: HeadlineReason }): Naming {
  const value = gainValue(set.gain, q, situation.nEffective);
  const gainMs = set.gain.us[q]! / 1000;
  const quantile = QUANTILE_KEYS[q]!;
  const largestAvoidable = {
    levers: set.levers,
    quantile,
    gainMs,
    lowMs: value.lowMs,
    highMs: value.highMs,
    scenario: null,
  };
  return { largestAvoidable, reason: set.reason };
}

/** Sets of 2 to 4 levers, small ones first. */
function subsets(levers: readonly Measured[]): Measured[][] {
  const all = Array.from({ length: 2 ** levers.length }, (_, bits) => levers.filter((_, i) => bits & (1 << i)));
  return all.filter((set) => set.length >= 2).sort((a, b) => a.length - b.length);
}

/** The smallest set, of the four that save most in the tail, that brings 80 % of what all bring together. */
function maskedSet(situation: Situation, q: number): Naming | null {
  const { waits, weights, seed, joint } = situation;
  const total = weights.reduce((a, b) => a + b, 0);
  const tail = quantilesOf(ordered(waits), weights, total)[q]!;
  const inTail = ({ saved }: Measured) =>
    saved.reduce((sum, s, i) => (waits[i]! >= tail ? sum + s * weights[i]! : sum), 0);
  const four = [...situation.levers].sort((a, b) => inTail(b) - inTail(a)).slice(0, 4);
  for (const set of subsets(four)) {
    const after = minus(
      waits,
      set.map((s) => s.saved),
    );
    const [gain] = estimateGains(waits, [after], { weights, seed });
    if (gain!.us[q]! < 0.8 * joint.us[q]! || bound(at(gain!, q), 0.05) <= leastGain(situation, q)) continue;
    return named(situation, q, { levers: set.map((s) => s.lever), gain: gain!, reason: 'masked' });
  }
  return null;
}

/** Names the largest avoidable term at quantile index q, or says that there is none. */
function nameAt(situation: Situation, q: number): Naming {
  const nothing: Naming = { largestAvoidable: null, reason: 'nothing_worth_fixing' };
  const [best, next] = [...situation.gains].sort(([, a], [, b]) => b.us[q]! - a.us[q]!);
  if (best === undefined) return nothing;
  const least = leastGain(situation, q);
  const worth = (gain: Gain) => bound(at(gain, q), 0.05) > least;
  if (best[1].us[q]! < 0.5 * situation.joint.us[q]!) {
    const masked = maskedSet(situation, q);
    if (masked !== null) return masked;
  }
  if (!worth(best[1])) return nothing;
  if (next !== undefined && worth(next[1])) {
    const differences = at(best[1], q).map((us, b) => us - next[1].replicates[b]![q]!);
    if (bound(differences, 0.025) <= 0) {
      return named(situation, q, { levers: [best[0], next[0]], gain: best[1], reason: 'level' });
    }
  }
  return named(situation, q, { levers: [best[0]], gain: best[1], reason: 'named' });
}

/** p99 when there are enough requests, else said of p90 or p50. */
function name(situation: Situation): Naming {
  if (situation.nEffective >= smallestN(0.99).oneSided) return nameAt(situation, QUANTILE_KEYS.indexOf('p99'));
  const fallback = (['p90', 'p50'] as const).find(
    (key) => situation.nEffective >= smallestN(QUANTILE_OF[key]).oneSided,
  );
  if (fallback === undefined) return { largestAvoidable: null, reason: 'too_few' };
  return { ...nameAt(situation, QUANTILE_KEYS.indexOf(fallback)), reason: 'too_few' };
}

/** True when more than half of the wait of the slowest percent is unattributed. */
function mostlyUnattributed(rows: readonly SampledRequest[], waits: Float64Array, weights: Float64Array): boolean {
  const total = weights.reduce((a, b) => a + b, 0);
  const tail = quantilesOf(ordered(waits), weights, total)[QUANTILE_KEYS.indexOf('p99')]!;
  let waited = 0;
  let unknown = 0;
  rows.forEach((row, i) => {
    if (waits[i]! < tail) return;
    waited += waits[i]! * weights[i]!;
    unknown += Math.min(waits[i]!, Math.max(0, unattributedUs(row))) * weights[i]!;
  });
  return unknown > 0.5 * waited;
}

function tailLeverOf(gains: Record<Lever, GainQuantiles>): Analysis['tailLever'] {
  const worth = LEVERS.map((lever) => ({ lever, gainMs: gains[lever].p999.ms, p99Ms: gains[lever].p99.ms }))
    .filter((g) => g.gainMs !== null && g.p99Ms !== null && g.gainMs >= 1000 && g.gainMs >= 5 * g.p99Ms)
    .sort((a, b) => b.gainMs! - a.gainMs!);
  return worth[0] === undefined ? null : { lever: worth[0].lever, gainMs: worth[0].gainMs! };
}

/**
 * Gains of every lever and the largest avoidable term of one endpoint's requests. `rows` carry their calibrated weight;
 * rows that tell nothing about the basis are left out. A lever whose term no request measured has no gain ('no_data').
 */
export function analyse(question: {
  rows: readonly SampledRequest[];
  complete: boolean;
  basis: Basis;
  context: LeverContext;
  seed: string;
}): Analysis {
  const { basis, context, seed } = question;
  const rows = question.rows.filter((row) => waitUs(row, basis) !== null);
  const waits = Float64Array.from(rows, (row) => waitUs(row, basis)!);
  const weights = Float64Array.from(rows, (row) => row.weight);
  const queueP10Us = queueFloorUs(rows);
  const total = weights.reduce((a, b) => a + b, 0);
  const squares = weights.reduce((sum, w) => sum + w * w, 0);
  const nEffective = squares === 0 ? 0 : Math.floor((total * total) / squares + 1e-6);
  const levers = LEVERS.flatMap((lever): Measured[] => {
    const saved = rows.map((row) => savedUs(row, lever, { context, queueP10Us }));
    if (saved.every((us) => us === null)) return [];
    return [{ lever, saved: Float64Array.from(saved, (us) => us ?? 0) }];
  });
  const counterfactuals = [
    ...levers.map((l) => minus(waits, [l.saved])),
    minus(
      waits,
      levers.map((l) => l.saved),
    ),
  ];
  const estimated = rows.length === 0 ? [] : estimateGains(waits, counterfactuals, { weights, seed });
  const gainOf = new Map(levers.map((l, i) => [l.lever, estimated[i]!]));
  const joint = levers.length === 0 ? null : (estimated.at(-1) ?? null);
  const gains = Object.fromEntries(
    LEVERS.map((lever) => [lever, gainQuantiles(gainOf.get(lever) ?? null, nEffective)]),
  ) as Record<Lever, GainQuantiles>;
  const floors = floorsOf(rows, context, queueP10Us);
  const base = { n: rows.length, nEffective, gains, jointGain: gainQuantiles(joint, nEffective), floors };
  if (joint === null) {
    const reason = rows.length === 0 ? 'no_data' : 'instrument_first';
    return { ...base, largestAvoidable: null, reason, tailLever: null };
  }
  const naming = name({ waits, weights, seed, nEffective, levers, gains: gainOf, joint });
  const instrument = naming.reason !== 'too_few' && mostlyUnattributed(rows, waits, weights);
  return { ...base, ...naming, ...(instrument ? { reason: 'instrument_first' } : {}), tailLever: tailLeverOf(gains) };
}
