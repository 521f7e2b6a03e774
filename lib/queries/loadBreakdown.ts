import { type Anatomy, type AnatomyPoint, anatomyPoints, mergeAnatomy } from '../core/anatomy';
import type { Duration, Family } from '../core/cell';
import type { EndpointClass } from '../core/endpointClass';
import type { AllTermQuantiles, Quantiles } from '../core/estimate';
import {
  type Analysis,
  analyse,
  type FloorInfo,
  type GainQuantiles,
  type HeadlineReason,
  type LargestAvoidable,
} from '../core/gains';
import { type Gap, gapOf } from '../core/gap';
import type { LeverContext } from '../core/levers';
import type { PlacementScenario } from '../core/placement';
import { toQuantiles } from '../core/quantile';
import { type Stages, stagesOf } from '../core/stages';
import type { Basis, Lever, Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type Member, type Snapshot, withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
import { anatomyOfRows, type BreakdownCell, pairsOf, pooledAnatomy, readCells } from './breakdownCells';
import { poolTerms, type Touched, termQuantiles, touchedTerms } from './breakdownTerms';
import { readCellRows } from './cellRows';
import { loadLeverContext } from './loadLeverContext';
import { basisOf, chooseVantage, classify, countOf, durationOf, isTimed, readPopulation } from './population';
import { filtersRows, readSampled } from './sampled';
import type { Metric, Scope } from './scope';

export type { AnatomyPoint } from '../core/anatomy';
export type { FloorInfo, GainQuantiles, HeadlineReason, LargestAvoidable } from '../core/gains';
export type { Gap } from '../core/gap';
export type { Stage } from '../core/stages';
export type { AnswerRange } from './answer';
export type { BreakdownCell } from './breakdownCells';

export type ExcludedCounts = { errors: number; cancelled: number; cached: number; withoutFirstOutput: number };

export type Breakdown = AnswerRange & {
  /** The requests that gains are read from: whole local days when the range is long. */
  gainsFrom: string;
  gainsTo: string;
  count: number;
  weighted: number;
  metric: Metric;
  vantage: Vantage | null;
  excluded: ExcludedCounts;
  quantiles: {
    wait: Quantiles;
    e2e: Quantiles;
    ttft: Quantiles;
    model: Quantiles;
    gap: Quantiles;
    terms: AllTermQuantiles;
  };
  /** What the gap is like, and what it points to. */
  gap: Gap;
  /** Of the one endpoint in view, where its requests tell their calls; `steps`: model calls one after the other. */
  stages: Stages['stages'];
  steps: Stages['steps'];
  floors: Record<Lever, FloorInfo>;
  gains: Record<Lever, GainQuantiles>;
  jointGain: GainQuantiles;
  largestAvoidable: LargestAvoidable | null;
  reason: HeadlineReason;
  /** A lever that only shows at p99.9, for the second line. */
  tailLever: { lever: Lever; gainMs: number } | null;
  touched: Touched;
  /** Where the service could run instead, with what each placement would save or lose a request. */
  placements: PlacementScenario[];
  anatomy: AnatomyPoint[];
  /** Client region × endpoint, most requests first; `moreCells` are not listed. */
  cells: BreakdownCell[];
  moreCells: { cells: number; n: number };
};

export const ANATOMY_PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9];
const CELLS_SHOWN = 20;
const DURATION_FAMILIES: readonly Family[] = ['terms', 'counts', 'e2e', 'ttft', 'model', 'gapE2e', 'gapTtft'];

type Question = {
  viewer: Viewer;
  scope: Scope;
  snapshot: Snapshot;
  vantage: Vantage | null;
  range: { fromUs: number; toUs: number; finest: 'hour' };
  classes: ReadonlyMap<string, EndpointClass>;
  context: LeverContext;
};

type Studied = { analysis: Analysis; stages: Stages; anatomy: Anatomy | null; fromUs: number; toUs: number };

/** Gains of the one endpoint in question, from whole requests; none when there are several, which are never pooled. */
async function study(question: Question): Promise<Studied> {
  const { context } = question;
  const cell = await readCellRows(question.snapshot, { ...question, floorsVersion: context.version });
  const { rows, basis, seed, endpoint, fromUs, toUs } = cell;
  return {
    analysis: analyse({ rows, complete: cell.complete, basis, context, seed }),
    stages: stagesOf({ rows, basis, context, seed }),
    anatomy: filtersRows(question.scope) && endpoint !== null ? anatomyOfRows(rows, basis) : null,
    ...{ fromUs, toUs },
  };
}

/** What requests at each percentile are made of: from roll-ups, or from whole requests where those lack a filter. */
async function readAnatomy(question: Question): Promise<Anatomy> {
  const { scope, snapshot, vantage, range, classes } = question;
  const basisOfEndpoint = (endpoint: string) => basisOf(scope.metric, classes.get(endpoint)!);
  if (!filtersRows(scope)) {
    const { members } = await readPopulation(snapshot, {
      ...{ scope, vantage, range, dimensions: ['endpoint'], families: ['anatomyE2e', 'anatomyTtft'] },
    });
    return pooledAnatomy(members.filter(isTimed), basisOfEndpoint);
  }
  const merged: Anatomy = new Map();
  const bases = [...new Set([...classes.keys()].map(basisOfEndpoint))];
  for (const basis of bases) {
    const leading = [...classes.keys()]
      .filter((endpoint) => basisOfEndpoint(endpoint) === basis)
      .map((endpoint) => ({ endpoint }));
    const { sampledOf } = await readSampled(snapshot, {
      ...{ scope, vantage, basis, leading, many: true, groupOf: () => 'all' },
    });
    mergeAnatomy(merged, anatomyOfRows(sampledOf('all').rows, basis));
  }
  return merged;
}

function excludedOf(
  members: readonly Member[],
  cachedN: number,
  basisOfEndpoint: (endpoint: string) => Basis,
): ExcludedCounts {
  const of = (outcome: string) => members.filter((member) => member.key.outcome === outcome);
  const without = (some: readonly Member[]) => countOf(some, 'n') - durationOf(some, 'wait', basisOfEndpoint).n;
  return {
    errors: countOf(of('error'), 'n'),
    cancelled: without(of('cancelled')),
    cached: cachedN,
    withoutFirstOutput: without(of('ok')),
  };
}

/** Where does the time go? */
export async function loadBreakdown({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Breakdown> {
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const [stored, context] = await Promise.all([loadEndpointClasses(viewer.projectId), loadLeverContext({ viewer })]);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, range);
    const base = { scope: input, vantage, range };
    const whole = await readPopulation(snapshot, { ...base, dimensions: ['endpoint'], families: DURATION_FAMILIES });
    const endpoints = whole.members.map((member) => member.key.endpoint!);
    const classes = await classify(snapshot, { endpoints, stored, vantage, range });
    const question: Question = { viewer, scope: input, snapshot, vantage, range, classes, context };
    const studied = await study(question);
    const anatomy = studied.anatomy ?? (await readAnatomy(question));
    const counts = await readPopulation(snapshot, {
      ...{ ...base, dimensions: ['endpoint', 'clientRegion'], families: ['counts'] },
    });
    const pairs = pairsOf(counts.members.filter(isTimed))
      .map((pair) => ({ pair, n: countOf(pair.members, 'n') }))
      .sort((a, b) => b.n - a.n);
    const rest = pairs.slice(CELLS_SHOWN);
    const { cells } = await readCells(snapshot, {
      ...base,
      classes,
      pairs: pairs.slice(0, CELLS_SHOWN).map(({ pair }) => pair),
    });
    return {
      ...answerOf(question, whole, studied),
      anatomy: anatomyPoints(anatomy, ANATOMY_PERCENTILES),
      ...{ cells, moreCells: { cells: rest.length, n: rest.reduce((sum, { n }) => sum + n, 0) } },
    };
  });
}

function answerOf(
  question: Question,
  whole: { members: Member[]; cachedN: number },
  { analysis, stages, fromUs, toUs }: Studied,
): Omit<Breakdown, 'anatomy' | 'cells' | 'moreCells'> {
  const { scope, snapshot, vantage, classes, range } = question;
  const basisOfEndpoint = (endpoint: string) => basisOf(scope.metric, classes.get(endpoint)!);
  const timed = whole.members.filter(isTimed);
  // Asked for errors, one wants them counted; otherwise they are told apart.
  const counted = scope.outcome.includes('error') ? whole.members : timed;
  const terms = poolTerms(timed);
  const quantiles = (d: Duration | 'wait' | 'gap') => toQuantiles(durationOf(timed, d, basisOfEndpoint));
  const { floors, gains, jointGain, largestAvoidable, tailLever, placements } = analysis;
  return {
    ...rangeOf(snapshot, snapshot.effective(range), scope.timeZone),
    gainsFrom: formatInstant(fromUs / 1000, scope.timeZone),
    gainsTo: formatInstant(toUs / 1000, scope.timeZone),
    ...{ count: countOf(counted, 'n'), weighted: countOf(counted, 'weight'), metric: scope.metric, vantage },
    excluded: excludedOf(whole.members, whole.cachedN, basisOfEndpoint),
    quantiles: {
      ...{ wait: quantiles('wait'), e2e: quantiles('e2e'), ttft: quantiles('ttft') },
      ...{ model: quantiles('model'), gap: quantiles('gap'), terms: termQuantiles(terms, countOf(timed, 'n')) },
    },
    gap: gapOf(durationOf(timed, 'gap', basisOfEndpoint), durationOf(timed, 'wait', basisOfEndpoint)),
    ...stages,
    ...{ floors, gains, jointGain, largestAvoidable, tailLever, placements },
    reason: classes.size > 1 ? 'several_endpoints' : analysis.reason,
    touched: touchedTerms(terms),
  };
}
