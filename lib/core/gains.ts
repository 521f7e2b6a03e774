// Gains: Q_q(wait) − Q_q(wait − saved), request by request, with paired bootstrap intervals, and what to name first.
//
//   savingsOf ─► counterfactuals, sorted once ─► point gains ─┐
//                              └─► 400 Poisson replicates ────┴─► Values ─► name: largest, level, masked, tail
//
// Percentiles of terms are never subtracted. If the worst 2 % are slow for two reasons, each lever alone gains nothing.

import {
  differences,
  percentileOfReplicates,
  quantilesFromTop,
  type Resampled,
  resample,
  type Walked,
  walked,
} from './bootstrap';
import { QUANTILE_KEYS, QUANTILE_OF, type QuantileKey, type Value } from './estimate';
import type { FloorInfo, LeverContext } from './floors';
import type { GainQuantiles, Headline, LargestAvoidable } from './headline';
import { smallestN } from './interval';
import { type Savings, savingsOf } from './levers';
import type { PlacementScenario } from './placement';
import { type SampledRequest, unattributedUs } from './request';
import { type Population, populationOf } from './strata';
import { type Basis, LEVERS, type Lever } from './terms';

export type { FloorInfo } from './floors';
export type { GainQuantiles, HeadlineReason, LargestAvoidable } from './headline';

export const REPLICATES = 400;
/** Descending, as the bootstrap walks from the top. */
const QS = QUANTILE_KEYS.map((key) => QUANTILE_OF[key]).reverse();
/** A gain is worth naming when surely above 5 ms and above 2 % of the percentile. */
const WORTH_US = 5_000;
const WORTH_SHARE = 0.02;
const MASKED_SHARE = 0.5;
const SET_SHARE = 0.8;
const TAIL_US = 1_000_000;
const TAIL_FACTOR = 5;

export type AnalysisInput = {
  /** Requests of one cell (endpoint, client region), weights calibrated. */
  rows: readonly SampledRequest[];
  /** The rows are all requests, not a sample of them. */
  complete: boolean;
  basis: Basis;
  context: LeverContext;
  /** (project, cell, metric, effective range, floors version): never the URL. */
  seed: string;
  /** What the wait should stay within (µs), to count the requests that a lever would bring there. */
  objectiveUs?: number;
  /** Draws of the bootstrap; fewer where only the name is shown. */
  replicates?: number;
};

export type Analysis = Headline & {
  n: number;
  /** (Σw)² ÷ Σw²: what every rule about n goes by. */
  nEffective: number;
  complete: boolean;
  gains: Record<Lever, GainQuantiles>;
  jointGain: GainQuantiles;
  floors: Record<Lever, FloorInfo>;
  placements: PlacementScenario[];
  /** Requests (weights counted) that would come inside the objective with the lever that brings most of them. */
  comesInside: { lever: Lever; n: number } | null;
};

/** What each lever, and all together, would gain at every percentile, and which to begin with. Pure and repeatable. */
export function analyse(input: AnalysisInput): Analysis {
  const savings = savingsOf(input);
  const study = examine(savings, input);
  const gains = Object.fromEntries(
    LEVERS.map((lever) => [lever, savings.savedUs[lever] === null ? noData() : gainQuantiles(study, lever)]),
  ) as Record<Lever, GainQuantiles>;
  const isAnything = LEVERS.some((lever) => savings.savedUs[lever] !== null);
  return {
    n: savings.rows.length,
    nEffective: study.population.nEffective,
    complete: input.complete,
    gains,
    jointGain: isAnything ? gainQuantiles(study, 'joint') : noData(),
    floors: savings.floors,
    placements: savings.placements,
    comesInside: comesInside(savings, study.population, input.objectiveUs ?? null),
    ...headlineOf(study, gains),
  };
}

function comesInside(
  { waitUs, savedUs }: Savings,
  { weights }: Population,
  objectiveUs: number | null,
): Analysis['comesInside'] {
  if (objectiveUs === null) return null;
  let best: Analysis['comesInside'] = null;
  for (const lever of LEVERS) {
    const saved = savedUs[lever];
    if (saved === null) continue;
    let n = 0;
    for (let i = 0; i < saved.length; i++)
      if (waitUs[i]! > objectiveUs && waitUs[i]! - saved[i]! <= objectiveUs) n += weights[i]!;
    if (n > 0 && (best === null || n > best.n)) best = { lever, n };
  }
  return best;
}

/** A lever, 'joint', or whatever else takes time off requests. */
type Option = string;

/** The gain of each way to save time on the same requests (µs saved, in their order), all on the same draws. */
export function gainsOfEach(
  requests: { rows: readonly SampledRequest[]; waitUs: Float64Array },
  savedUs: ReadonlyMap<string, Float64Array>,
  seed: string,
): Map<string, GainQuantiles> {
  const study = emptyStudy(requests, { seed });
  if (requests.rows.length === 0) return new Map();
  add(study, requests.waitUs);
  for (const [option, saved] of savedUs)
    study.at.set(
      option,
      add(
        study,
        requests.waitUs.map((us, i) => Math.max(0, us - saved[i]!)),
      ),
    );
  study.resampled = resample(study.distributions, study.population, { qs: QS, replicates: REPLICATES, seed });
  return new Map([...savedUs.keys()].map((option) => [option, gainQuantiles(study, option)]));
}

/** Distributions over the same requests and their draws. Distribution 0 is the wait itself. */
type Drawn = {
  seed: string;
  replicates: number;
  population: Population;
  distributions: Walked[];
  at: Map<Option, number>;
  pointsUs: Float64Array[];
  resampled: Resampled | null;
};
/** Everything the gains of one cell are read from. */
type Study = Drawn & { savings: Savings };

function emptyStudy(
  { rows }: { rows: readonly SampledRequest[] },
  { seed, replicates = REPLICATES }: Pick<AnalysisInput, 'seed' | 'replicates'>,
): Drawn {
  return {
    ...{ seed, replicates, population: populationOf(rows), resampled: null },
    ...{ distributions: [], at: new Map<Option, number>(), pointsUs: [] },
  };
}

function examine(savings: Savings, input: Pick<AnalysisInput, 'seed' | 'replicates'>): Study {
  const study: Study = { ...emptyStudy(savings, input), savings };
  const { population, seed, replicates } = study;
  if (savings.rows.length === 0) return study;
  add(study, savings.waitUs);
  for (const lever of LEVERS) {
    const saved = savings.savedUs[lever];
    // A lever that saves nobody anything leaves the wait as it is
    if (saved === null || saved.every((us) => us === 0)) study.at.set(lever, 0);
    else study.at.set(lever, add(study, counterfactual(savings, [lever])));
  }
  study.at.set('joint', add(study, counterfactual(savings, LEVERS)));
  study.resampled = resample(study.distributions, population, { qs: QS, replicates, seed });
  return study;
}

function add(study: Drawn, values: Float64Array): number {
  const distribution = walked(values, study.population.weights);
  study.pointsUs.push(quantilesFromTop(distribution, QS, study.population.total));
  return study.distributions.push(distribution) - 1;
}

/** Each request's wait (µs) with these levers at their floors, never below 0. */
export function counterfactual(savings: Savings, levers: readonly Lever[]): Float64Array {
  const out = Float64Array.from(savings.waitUs);
  for (const lever of levers) {
    const saved = savings.savedUs[lever];
    if (saved !== null) for (let i = 0; i < out.length; i++) out[i]! -= saved[i]!;
  }
  for (const { levers: pair, us } of savings.overlaps)
    if (pair.every((lever) => levers.includes(lever))) for (let i = 0; i < out.length; i++) out[i]! += us[i]!;
  for (let i = 0; i < out.length; i++) if (out[i]! < 0) out[i] = 0;
  return out;
}

function noData(): GainQuantiles {
  const value: Value = { ms: null, lowMs: null, highMs: null, reason: 'no_data' };
  return Object.fromEntries(QUANTILE_KEYS.map((key) => [key, value])) as GainQuantiles;
}

function gainQuantiles(study: Drawn, option: Option): GainQuantiles {
  return Object.fromEntries(QUANTILE_KEYS.map((key) => [key, gainValue(study, option, key)])) as GainQuantiles;
}

/** The point gain (µs) of a lever at a percentile. */
function pointUs(study: Drawn, option: Option, key: QuantileKey): number {
  const at = QS.indexOf(QUANTILE_OF[key]);
  return study.pointsUs[0]![at]! - study.pointsUs[study.at.get(option)!]![at]!;
}

/** A gain by the display rule: none below the smallest n, then a lower bound, then an interval. */
function gainValue(study: Drawn, option: Option, key: QuantileKey): Value {
  if (study.resampled === null) return { ms: null, lowMs: null, highMs: null, reason: 'no_data' };
  const q = QUANTILE_OF[key];
  const { oneSided, twoSided } = smallestN(q);
  if (study.population.nEffective < oneSided) return { ms: null, lowMs: null, highMs: null, reason: 'too_few' };
  const spread = differences(study.resampled, { minuend: 0, subtrahend: study.at.get(option)!, q });
  const gainUs = pointUs(study, option, key);
  const isOneSided = study.population.nEffective < twoSided;
  const low = percentileOfReplicates(spread, isOneSided ? 0.05 : 0.025);
  const high = isOneSided ? null : percentileOfReplicates(spread, 0.975);
  return {
    ms: gainUs / 1000,
    lowMs: Math.min(low, gainUs) / 1000,
    highMs: high === null ? null : Math.max(high, gainUs) / 1000,
  };
}

const NOTHING = { largestAvoidable: null, tailLever: null } as const;

function headlineOf(study: Study, gains: Record<Lever, GainQuantiles>): Headline {
  if (study.resampled === null) return { reason: 'no_data', ...NOTHING };
  if (new Set(study.savings.rows.map((row) => row.dims.endpoint)).size > 1)
    return { reason: 'several_endpoints', ...NOTHING };
  const quantile = (['p99', 'p90', 'p50'] as const).find(
    (key) => study.population.nEffective >= smallestN(QUANTILE_OF[key]).oneSided,
  );
  if (quantile === undefined) return { reason: 'too_few', ...NOTHING };
  const named = name(study, gains, quantile);
  const tailLever = tailLeverOf(gains);
  if (quantile !== 'p99') return { reason: 'too_few', largestAvoidable: named?.largest ?? null, tailLever };
  if (isMostlyUnattributed(study))
    return { reason: 'instrument_first', largestAvoidable: named?.largest ?? null, tailLever };
  if (named === null) return { reason: 'nothing_worth_fixing', largestAvoidable: null, tailLever };
  return { reason: named.reason, largestAvoidable: named.largest, tailLever };
}

type Named = { reason: 'named' | 'level' | 'masked'; largest: LargestAvoidable };

function name(study: Study, gains: Record<Lever, GainQuantiles>, quantile: QuantileKey): Named | null {
  const ranked = LEVERS.filter((lever) => gains[lever][quantile].ms !== null).sort(
    (a, b) => pointUs(study, b, quantile) - pointUs(study, a, quantile),
  );
  const [first, second] = ranked;
  if (first === undefined) return null;
  const value = gains[first][quantile];
  const isLevel =
    second !== undefined && pointUs(study, second, quantile) > 0 && isTie(study, [first, second], quantile);
  const masked = isLevel && addUp(study, [first, second], quantile) ? null : maskedSet(study, ranked, quantile);
  if (masked !== null) return masked;
  if (!isWorth(study, value, quantile)) return null;
  return {
    reason: isLevel ? 'level' : 'named',
    largest: largestOf(study, { levers: isLevel ? [first, second] : [first], quantile, value }),
  };
}

function largestOf(study: Study, found: { levers: Lever[]; quantile: QuantileKey; value: Value }): LargestAvoidable {
  const { levers, quantile, value } = found;
  return {
    ...{ levers, quantile, gainMs: value.ms ?? Number.NaN, lowMs: value.lowMs, highMs: value.highMs },
    scenario: levers.includes('geography') ? study.savings.placementWords : null,
  };
}

/** Surely more than max(5 ms, 2 % of the percentile). */
function isWorth(study: Study, value: Value, quantile: QuantileKey): boolean {
  const waitUs = study.pointsUs[0]![QS.indexOf(QUANTILE_OF[quantile])]!;
  if (value.ms === null || value.lowMs === null) return false;
  return value.lowMs * 1000 > Math.max(WORTH_US, WORTH_SHARE * waitUs);
}

/** The interval of the difference of two gains includes 0. */
function isTie(study: Study, pair: [Lever, Lever], quantile: QuantileKey): boolean {
  const [a, b] = pair.map((lever) => study.at.get(lever)!) as [number, number];
  // gain a − gain b = Q(wait − b) − Q(wait − a)
  const spread = differences(study.resampled!, { minuend: b, subtrahend: a, q: QUANTILE_OF[quantile] });
  return percentileOfReplicates(spread, 0.025) <= 0 && percentileOfReplicates(spread, 0.975) >= 0;
}

/** Two gains that each bring their part, together most of what there is: level, not masked. */
function addUp(study: Study, pair: [Lever, Lever], quantile: QuantileKey): boolean {
  const sum = pair.reduce((us, lever) => us + pointUs(study, lever, quantile), 0);
  return sum >= SET_SHARE * pointUs(study, 'joint', quantile);
}

/** When the largest alone brings under half of all: the smallest set of the four largest that brings 80 % of it. */
function maskedSet(study: Study, ranked: Lever[], quantile: QuantileKey): Named | null {
  const joint = gainValue(study, 'joint', quantile);
  if (joint.ms === null || !isWorth(study, joint, quantile)) return null;
  if (pointUs(study, ranked[0]!, quantile) / 1000 >= MASKED_SHARE * joint.ms) return null;
  const tail = (lever: Lever) => tailSavedUs(study, lever, quantile);
  const largest = ranked
    .map((lever) => ({ lever, us: tail(lever) }))
    .filter(({ us }) => us > 0)
    .sort((a, b) => b.us - a.us)
    .slice(0, 4)
    .map(({ lever }) => lever);
  for (let size = 2; size <= largest.length; size++) {
    let best: { levers: Lever[]; value: Value } | null = null;
    for (const levers of subsets(largest, size)) {
      const value = setGain(study, levers, quantile);
      if (value.ms === null || value.ms < SET_SHARE * joint.ms || !isWorth(study, value, quantile)) continue;
      if (best === null || value.ms > best.value.ms!) best = { levers, value };
    }
    if (best !== null) return { reason: 'masked', largest: largestOf(study, { ...best, quantile }) };
  }
  return null;
}

/** What a lever saves in all (weighted µs) over the requests slower than the percentile would be without any fault. */
function tailSavedUs(study: Study, lever: Lever, quantile: QuantileKey): number {
  const { waitUs, savedUs } = study.savings;
  const { weights } = study.population;
  const from = study.pointsUs[study.at.get('joint')!]![QS.indexOf(QUANTILE_OF[quantile])]!;
  const saved = savedUs[lever];
  if (saved === null) return 0;
  let sum = 0;
  for (let i = 0; i < saved.length; i++) if (waitUs[i]! >= from) sum += saved[i]! * weights[i]!;
  return sum;
}

function subsets<T>(of: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return of.flatMap((one, i) => subsets(of.slice(i + 1), size - 1).map((rest) => [one, ...rest]));
}

/** The gain of a set of levers together, on the same draws as everything else. */
function setGain(study: Study, levers: readonly Lever[], quantile: QuantileKey): Value {
  const own: Study = {
    ...study,
    distributions: [study.distributions[0]!],
    pointsUs: [study.pointsUs[0]!],
    at: new Map(),
  };
  own.at.set('joint', add(own, counterfactual(study.savings, levers)));
  const qs = [QUANTILE_OF[quantile]];
  own.resampled = resample(own.distributions, study.population, { qs, replicates: study.replicates, seed: study.seed });
  return gainValue(own, 'joint', quantile);
}

/** A lever that p99 hides: at p99.9 at least a second, and five times what it gains at p99. */
function tailLeverOf(gains: Record<Lever, GainQuantiles>): Headline['tailLever'] {
  let best: Headline['tailLever'] = null;
  for (const lever of LEVERS) {
    const { p999, p99 } = gains[lever];
    if (p999.ms === null || p99.ms === null) continue;
    if (p999.ms * 1000 < TAIL_US || p999.ms < TAIL_FACTOR * p99.ms) continue;
    if (best === null || p999.ms > best.gainMs) best = { lever, gainMs: p999.ms };
  }
  return best;
}

/** More than half of the wait of the slowest 1 % is time that nothing explains. */
function isMostlyUnattributed(study: Study): boolean {
  const { rows, waitUs } = study.savings;
  const { weights } = study.population;
  const from = study.pointsUs[0]![QS.indexOf(QUANTILE_OF.p99)]!;
  // The share of each request, not of all their time: a few time-outs of a minute would outweigh all others.
  let requests = 0;
  let unexplained = 0;
  rows.forEach((row, i) => {
    const wait = waitUs[i]!;
    if (wait < from || wait === 0) return;
    requests += weights[i]!;
    unexplained += (Math.max(0, Math.min(wait, unattributedUs(row))) / wait) * weights[i]!;
  });
  return unexplained > 0.5 * requests;
}
