// Behind a gain: which requests, what was taken off each, and the two distributions it is the difference of.

import type { QuantileKey } from './estimate';
import { QUANTILE_OF } from './estimate';
import type { FloorInfo, LeverContext } from './floors';
import { counterfactual } from './gains';
import { type Savings, savingsOf, TERMS_OF } from './levers';
import type { PlacementScenario } from './placement';
import { quantileOfSorted } from './quantile';
import type { SampledRequest } from './request';
import { populationOf } from './strata';
import { type Basis, type Lever, MEASURED_TERMS, type MeasuredTerm } from './terms';

export type ExplainedRequest = {
  id: string;
  startedAtUs: number;
  /** How many requests this one stands for; not an integer in a sample. */
  weight: number;
  waitMs: number;
  /** What the levers' terms took; null: not measured. */
  terms: { term: MeasuredTerm; ms: number | null }[];
  savedMs: number;
  afterMs: number;
};

export type Explanation = {
  levers: Lever[];
  quantile: QuantileKey;
  /** Requests with a wait, and the part of them (weights counted) that the levers would save anything. */
  n: number;
  touchedShare: number | null;
  beforeMs: number | null;
  afterMs: number | null;
  gainMs: number | null;
  floors: Partial<Record<Lever, FloorInfo>>;
  placements: PlacementScenario[];
  /** The requests at and beyond the percentile, slowest first; `moreRequests` of them are not listed. */
  requests: ExplainedRequest[];
  moreRequests: number;
  /** Shares of the weight in bins of the wait, logarithmic: bin i spans edgesMs[i] to edgesMs[i + 1]. */
  distribution: { edgesMs: number[]; before: number[]; after: number[] };
};

const LISTED = 25;
const BINS = 48;

/** What is behind the gain of some levers together at one percentile. */
export function explain(question: {
  rows: readonly SampledRequest[];
  basis: Basis;
  context: LeverContext;
  levers: readonly Lever[];
  quantile: QuantileKey;
}): Explanation {
  const { levers, quantile } = question;
  const savings = savingsOf(question);
  const { rows, waitUs } = savings;
  const after = counterfactual(savings, levers);
  const { weights, total } = populationOf(rows);
  const q = QUANTILE_OF[quantile];
  const beforeUs = quantileOf(waitUs, weights, q);
  const afterUs = quantileOf(after, weights, q);
  const tail = [...rows.keys()].filter((i) => beforeUs !== null && waitUs[i]! >= beforeUs);
  tail.sort((a, b) => waitUs[b]! - waitUs[a]! || rows[a]!.startedAtUs - rows[b]!.startedAtUs);
  let touched = 0;
  for (let i = 0; i < rows.length; i++) if (after[i]! < waitUs[i]!) touched += weights[i]!;
  return {
    ...{ levers: [...levers], quantile, n: rows.length, touchedShare: total > 0 ? touched / total : null },
    ...{ beforeMs: toMs(beforeUs), afterMs: toMs(afterUs) },
    gainMs: beforeUs === null || afterUs === null ? null : (beforeUs - afterUs) / 1000,
    floors: Object.fromEntries(levers.map((lever) => [lever, savings.floors[lever]])),
    placements: levers.includes('geography') ? savings.placements : [],
    requests: tail.slice(0, LISTED).map((i) => explained(savings, after, { at: i, levers })),
    moreRequests: Math.max(0, tail.length - LISTED),
    distribution: distributionOf(waitUs, after, weights),
  };
}

const toMs = (us: number | null) => (us === null ? null : us / 1000);

function quantileOf(values: Float64Array, weights: Float64Array, q: number): number | null {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  return quantileOfSorted(
    order.map((i) => values[i]!),
    order.map((i) => weights[i]!),
    q,
  );
}

function explained(
  { rows, waitUs }: Savings,
  after: Float64Array,
  { at, levers }: { at: number; levers: readonly Lever[] },
): ExplainedRequest {
  const row = rows[at]!;
  const terms = MEASURED_TERMS.filter((term) => levers.some((lever) => TERMS_OF[lever].includes(term)));
  return {
    ...{ id: row.id, startedAtUs: row.startedAtUs, weight: row.weight },
    terms: terms.map((term) => ({ term, ms: toMs(row.terms[MEASURED_TERMS.indexOf(term)] ?? null) })),
    ...{ waitMs: waitUs[at]! / 1000, savedMs: (waitUs[at]! - after[at]!) / 1000, afterMs: after[at]! / 1000 },
  };
}

function distributionOf(before: Float64Array, after: Float64Array, weights: Float64Array): Explanation['distribution'] {
  const shares = { before: new Array<number>(BINS).fill(0), after: new Array<number>(BINS).fill(0) };
  if (before.length === 0) return { edgesMs: [], before: [], after: [] };
  let [least, most] = [Number.POSITIVE_INFINITY, 1_000];
  for (let i = 0; i < before.length; i++) {
    most = Math.max(most, before[i]!);
    if (after[i]! > 0) least = Math.min(least, after[i]!);
  }
  const from = Math.log(Math.min(least, most / 2));
  const step = (Math.log(most) - from) / BINS;
  const binOf = (us: number) =>
    us <= 0 ? 0 : Math.min(BINS - 1, Math.max(0, Math.floor((Math.log(us) - from) / step)));
  const total = weights.reduce((sum, w) => sum + w, 0);
  for (let i = 0; i < before.length; i++) {
    shares.before[binOf(before[i]!)]! += weights[i]! / total;
    shares.after[binOf(after[i]!)]! += weights[i]! / total;
  }
  return { edgesMs: Array.from({ length: BINS + 1 }, (_, i) => Math.exp(from + i * step) / 1000), ...shares };
}
