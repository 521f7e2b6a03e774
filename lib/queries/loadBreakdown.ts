import { type Anatomy, type AnatomyPoint, addToAnatomy, anatomyPoints, mergeAnatomy } from '../core/anatomy';
import { DURATIONS, type Duration } from '../core/cell';
import type { EndpointClass } from '../core/endpointClass';
import type { AllTermQuantiles, Quantiles, TermQuantiles } from '../core/estimate';
import {
  type Analysis,
  analyse,
  type FloorInfo,
  type GainQuantiles,
  type HeadlineReason,
  type LargestAvoidable,
} from '../core/gains';
import { createHistogram, type Histogram, mergeHistogram, quantileUs } from '../core/histogram';
import type { LeverContext } from '../core/levers';
import type { PlacementScenario } from '../core/placement';
import { toQuantiles } from '../core/quantile';
import type { SampledRequest } from '../core/request';
import { createSample, isComplete, mergeSample, sampleRows } from '../core/sample';
import { type Basis, EVIDENCES, type Lever, TERMS, type Term } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type CellAnswer, cellOf, readCells } from '../db/readCells';
import type { AnswerRange } from './answer';
import { loadLeverContext } from './loadLeverContext';
import {
  ANALYSIS_FAMILIES,
  basisOf,
  chooseGrouping,
  classify,
  filteredDimensions,
  type Member,
  rangeOf,
  selectMembers,
} from './population';
import type { Metric, Scope } from './scope';

export type { AnatomyPoint } from '../core/anatomy';
export type { FloorInfo, GainQuantiles, HeadlineReason, LargestAvoidable } from '../core/gains';
export type { AnswerRange } from './answer';

export type ExcludedCounts = { errors: number; cancelled: number; cached: number; withoutFirstOutput: number };

/** One client region × endpoint of the scope. */
export type BreakdownCell = {
  endpoint: string;
  clientRegion: string | null;
  endpointClass: EndpointClass;
  n: number;
  wait: Quantiles;
  e2e: Quantiles;
  model: Quantiles;
  gap: Quantiles;
  /** The windows of the anatomy around p50 and p99; null without data. */
  anatomyP50: AnatomyPoint | null;
  anatomyP99: AnatomyPoint | null;
};

export type Breakdown = AnswerRange & {
  count: number;
  weighted: number;
  metric: Metric;
  vantage: 'client' | 'service' | 'probe' | null;
  excluded: ExcludedCounts;
  quantiles: {
    wait: Quantiles;
    e2e: Quantiles;
    ttft: Quantiles;
    model: Quantiles;
    gap: Quantiles;
    terms: AllTermQuantiles;
  };
  floors: Record<Lever, FloorInfo>;
  gains: Record<Lever, GainQuantiles>;
  jointGain: GainQuantiles;
  largestAvoidable: LargestAvoidable | null;
  reason: HeadlineReason;
  /** A lever that only shows at p99.9, for the second line. */
  tailLever: { lever: Lever; gainMs: number } | null;
  /** Share of requests a term touches (> 0) and its median size there, for terms that come and go. */
  touched: Partial<Record<Term, { share: number; typicalMs: number | null }>>;
  /** Where the service could run instead, with what each placement would save or lose a request. */
  placements: PlacementScenario[];
  anatomy: AnatomyPoint[];
  cells: BreakdownCell[];
};

const ANATOMY_PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9];
const CELLS_SHOWN = 50;
const COMES_AND_GOES: readonly Term[] = ['coldStart', 'retry'];

export type BasisOfEndpoint = (endpoint: string) => Basis;

/** Merges one duration of several members; wait and gap follow each endpoint's basis. */
export function durationOf(
  members: readonly Member[],
  duration: Duration | 'wait' | 'gap',
  basisOfEndpoint: BasisOfEndpoint,
): Histogram {
  const merged = createHistogram();
  for (const { key, set } of members) {
    const basis = basisOfEndpoint(key.endpoint!);
    const named: Duration =
      duration === 'wait' ? basis : duration === 'gap' ? (basis === 'e2e' ? 'gapE2e' : 'gapTtft') : duration;
    mergeHistogram(merged, cellOf(set, 'duration').histograms[DURATIONS.indexOf(named)]!);
  }
  return merged;
}

const countOf = (members: readonly Member[], index: number) =>
  members.reduce((sum, m) => sum + cellOf(m.set, 'duration').counts[index]!, 0);

function termHistograms(members: readonly Member[]): { histograms: Histogram[]; evidence: number[] } {
  const histograms = TERMS.map(() => createHistogram());
  const evidence = TERMS.flatMap(() => EVIDENCES.map(() => 0));
  for (const { set } of members) {
    const cell = cellOf(set, 'terms');
    histograms.forEach((h, i) => {
      mergeHistogram(h, cell.histograms[i]!);
    });
    cell.evidence.forEach((count, i) => {
      evidence[i]! += count;
    });
  }
  return { histograms, evidence };
}

function termQuantiles(terms: ReturnType<typeof termHistograms>, count: number): AllTermQuantiles {
  const of = (i: number): TermQuantiles => {
    const histogram = terms.histograms[i]!;
    const counts = terms.evidence.slice(i * EVIDENCES.length, (i + 1) * EVIDENCES.length);
    const evidence = histogram.n === 0 ? 'missing' : EVIDENCES[counts.indexOf(Math.max(...counts))]!;
    return { ...toQuantiles(histogram), coverage: count === 0 ? null : histogram.n / count, evidence };
  };
  return Object.fromEntries(TERMS.map((term, i) => [term, of(i)])) as AllTermQuantiles;
}

function touchedTerms(histograms: readonly Histogram[]): Breakdown['touched'] {
  const touched: Breakdown['touched'] = {};
  for (const term of COMES_AND_GOES) {
    const histogram = histograms[TERMS.indexOf(term)]!;
    if (histogram.weight === 0) continue;
    const above = { ...histogram, zero: 0, weight: histogram.weight - histogram.zero };
    const typicalUs = quantileUs(above, 0.5);
    const typicalMs = typicalUs === null ? null : typicalUs / 1000;
    touched[term] = { share: above.weight / histogram.weight, typicalMs };
  }
  return touched;
}

/** Merges the anatomy of members, each on its endpoint's basis. */
export function anatomyOf(members: readonly Member[], basisOfEndpoint: BasisOfEndpoint): Anatomy {
  const merged: Anatomy = new Map();
  for (const { key, set } of members) {
    const family = basisOfEndpoint(key.endpoint!) === 'e2e' ? 'anatomyE2e' : 'anatomyTtft';
    mergeAnatomy(merged, cellOf(set, family).anatomy);
  }
  return merged;
}

/** Whole requests of members on one basis, with calibrated weights; `complete` when none was left out. */
export function sampleOf(members: readonly Member[], basis: Basis): { rows: SampledRequest[]; complete: boolean } {
  const merged = createSample();
  for (const { set } of members) mergeSample(merged, cellOf(set, basis === 'e2e' ? 'sampleE2e' : 'sampleTtft').sample);
  return { rows: sampleRows(merged), complete: isComplete(merged) };
}

/** One row a client region × endpoint, most requests first. */
export function breakdownCells(
  members: readonly Member[],
  classes: ReadonlyMap<string, EndpointClass>,
  metric: Metric,
): (BreakdownCell & { members: Member[] })[] {
  const grouped = new Map<string, Member[]>();
  for (const member of members) {
    const id = JSON.stringify([member.key.endpoint, member.key.clientRegion]);
    grouped.set(id, [...(grouped.get(id) ?? []), member]);
  }
  const cells = [...grouped.values()].map((some) => {
    const { endpoint, clientRegion } = some[0]!.key;
    const endpointClass = classes.get(endpoint!)!;
    const basis = () => basisOf(metric, endpointClass);
    const quantiles = (d: Duration | 'wait' | 'gap') => toQuantiles(durationOf(some, d, basis));
    const [anatomyP50 = null, anatomyP99 = null] = anatomyPoints(anatomyOf(some, basis), [50, 99]);
    return {
      ...{ endpoint: endpoint!, clientRegion: clientRegion ?? null, endpointClass, members: some },
      n: countOf(some, 0),
      ...{ wait: quantiles('wait'), e2e: quantiles('e2e'), model: quantiles('model'), gap: quantiles('gap') },
      ...{ anatomyP50, anatomyP99 },
    };
  });
  return cells.sort((a, b) => b.n - a.n);
}

export function seedOf(viewer: Viewer, answer: CellAnswer, parts: readonly (string | null)[]): string {
  return JSON.stringify([viewer.projectId, ...parts, answer.effectiveFromUs, answer.effectiveToUs]);
}

/** Rows of the sample tier that a scope's other filters accept (they are not in the key of a sample cell). */
function filterRows(rows: SampledRequest[], scope: Scope): SampledRequest[] {
  const fields = ['serviceRegion', 'provider', 'model', 'version'] as const;
  const used = fields.filter((field) => scope[field].length > 0);
  return used.length === 0 ? rows : rows.filter((r) => used.every((f) => scope[f].includes(r.dims[f] ?? '')));
}

type Analysed = { analysis: Analysis; anatomy: AnatomyPoint[] };

/** Gains and anatomy of the one endpoint in question, from whole requests. */
function analyseEndpoint(question: {
  viewer: Viewer;
  scope: Scope;
  answer: CellAnswer;
  members: readonly Member[];
  basis: Basis;
  context: LeverContext;
}): Analysed {
  const { viewer, scope, answer, members, basis, context } = question;
  const endpoint = members[0]?.key.endpoint ?? null;
  const sample = sampleOf(members, basis);
  const rows = filterRows(sample.rows, scope);
  const seed = seedOf(viewer, answer, [endpoint, ...scope.clientRegion, basis, context.version]);
  const analysis = analyse({ rows, complete: sample.complete, basis, context, seed });
  let anatomy = anatomyOf(members, () => basis);
  if (rows.length < sample.rows.length) {
    anatomy = new Map();
    for (const row of rows) addToAnatomy(anatomy, row, basis);
  }
  return { analysis, anatomy: anatomyPoints(anatomy, ANATOMY_PERCENTILES) };
}

/** Where does the time go? */
export async function loadBreakdown({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Breakdown> {
  const range = { projectId: viewer.projectId, fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const only = input.endpoint.length === 1 ? { endpoint: input.endpoint[0]! } : {};
  const coarse = { ...input, serviceRegion: [], provider: [], model: [], version: [] };
  const grouping = chooseGrouping(['endpoint', 'clientRegion', ...filteredDimensions(input)]);
  const [stored, context, answer] = await Promise.all([
    loadEndpointClasses(viewer.projectId),
    loadLeverContext({ viewer }),
    readCells({ ...range, ...only, grouping: 'endpointClientRegion', families: ANALYSIS_FAMILIES }),
  ]);
  const whole = selectMembers(answer.periods.get(0), coarse);
  const filtered =
    grouping === 'endpointClientRegion'
      ? whole
      : selectMembers(
          (await readCells({ ...range, ...only, grouping, families: ['duration', 'terms'] })).periods.get(0),
          {
            ...input,
            vantage: whole.vantage,
          },
        );
  const classes = classify(whole.members, stored);
  const basisOfEndpoint: BasisOfEndpoint = (endpoint) => basisOf(input.metric, classes.get(endpoint) ?? 'interactive');
  const members = filtered.members.filter((m) => m.key.outcome !== 'error');
  const waits = durationOf(members, 'wait', basisOfEndpoint);
  const count = countOf(members, 0);
  const terms = termHistograms(members);
  const several = classes.size > 1;
  const [endpoint = ''] = classes.keys();
  const { analysis, anatomy } = analyseEndpoint({
    ...{ viewer, scope: input, answer, context, basis: basisOfEndpoint(endpoint) },
    members: several ? [] : whole.members.filter((m) => m.key.outcome !== 'error'),
  });
  const quantiles = (d: Duration | 'wait' | 'gap') => toQuantiles(durationOf(members, d, basisOfEndpoint));
  const cancelledN = countOf(
    members.filter((m) => m.key.outcome === 'cancelled'),
    0,
  );
  const cancelledWaits = durationOf(
    members.filter((m) => m.key.outcome === 'cancelled'),
    'wait',
    basisOfEndpoint,
  ).n;
  const okMembers = members.filter((m) => m.key.outcome === 'ok');
  return {
    ...rangeOf(answer),
    ...{ count, weighted: countOf(members, 1), metric: input.metric, vantage: filtered.vantage },
    excluded: {
      errors: countOf(
        filtered.members.filter((m) => m.key.outcome === 'error'),
        0,
      ),
      cancelled: cancelledN - cancelledWaits,
      cached: filtered.cachedN,
      withoutFirstOutput: countOf(okMembers, 0) - durationOf(okMembers, 'wait', basisOfEndpoint).n,
    },
    quantiles: {
      ...{ wait: toQuantiles(waits), e2e: quantiles('e2e'), ttft: quantiles('ttft') },
      ...{ model: quantiles('model'), gap: quantiles('gap'), terms: termQuantiles(terms, count) },
    },
    ...{ floors: analysis.floors, gains: analysis.gains, jointGain: analysis.jointGain },
    largestAvoidable: analysis.largestAvoidable,
    reason: several ? 'several_endpoints' : analysis.reason,
    tailLever: analysis.tailLever,
    placements: analysis.placements,
    touched: touchedTerms(terms.histograms),
    anatomy: several ? anatomyPoints(anatomyOf(whole.members, basisOfEndpoint), ANATOMY_PERCENTILES) : anatomy,
    cells: breakdownCells(members, classes, input.metric)
      .slice(0, CELLS_SHOWN)
      .map(({ members: _, ...cell }) => cell),
  };
}
