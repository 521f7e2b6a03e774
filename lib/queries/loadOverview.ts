import { type AnatomyPoint, anatomyPoints } from '../core/anatomy';
import { BASIS_OF, DEFAULT_OBJECTIVES, ENDPOINT_CLASSES, type EndpointClass } from '../core/endpointClass';
import type { Value } from '../core/estimate';
import { type Analysis, analyse } from '../core/gains';
import { effectiveN, quantilesUs } from '../core/histogram';
import type { LeverContext } from '../core/levers';
import { displayValue } from '../core/quantile';
import { LEVERS } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses, newestRequestMs } from '../db/endpointClasses';
import { type CellAnswer, cellOf, readCells } from '../db/readCells';
import type { AnswerRange } from './answer';
import {
  anatomyOf,
  type Breakdown,
  type BreakdownCell,
  breakdownCells,
  durationOf,
  sampleOf,
  seedOf,
} from './loadBreakdown';
import { loadLeverContext } from './loadLeverContext';
import { ANALYSIS_FAMILIES, basisOf, classify, type Member, rangeOf, selectMembers } from './population';
import type { Metric, Scope } from './scope';

/** The default objective of a class: this share of requests ok and within the threshold. */
export type SloLine = {
  endpointClass: EndpointClass;
  endpoints: string[];
  metric: 'e2e' | 'ttft';
  thresholdMs: number;
  objective: number;
  total: number;
  good: number;
  /** good ÷ total, exact; null without requests. */
  goodRatio: number | null;
  /** ok ÷ all, errors and timeouts counted as failures. */
  successRatio: number | null;
  /** Signed share of the error budget left; null without requests. */
  budgetRemaining: number | null;
  /** Over all requests, failures at +∞ (then only a lower bound), clamped to the side of the threshold the counts say. */
  p99: Value;
};

export type OverviewCell = BreakdownCell & {
  /** Requests × gain of the best lever at p99 (request-milliseconds): what the ranking goes by. */
  rank: number;
  largestAvoidable: Breakdown['largestAvoidable'];
  reason: Breakdown['reason'];
};

export type Overview = AnswerRange & {
  vantage: 'client' | 'service' | 'probe' | null;
  slos: SloLine[];
  /** The ten largest, ranked; `moreCells` says how many and how many requests are not shown. */
  cells: OverviewCell[];
  moreCells: { cells: number; n: number };
  /** The cell the sentence is about: the first ranked with a named lever, else the first. */
  headline: {
    cell: OverviewCell;
    breakdown: Pick<Breakdown, 'floors' | 'gains' | 'largestAvoidable' | 'reason' | 'tailLever'>;
    anatomy: AnatomyPoint[];
  } | null;
  /** Null: nothing has ever been received. */
  newestEventAt: string | null;
};

const CELLS_SHOWN = 10;
/** Gains are computed for the cells with the most waiting at p99 only; the others rank below them. */
const CELLS_ANALYSED = 16;
const ANATOMY_PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9];

const weightOf = (members: readonly Member[], outcome: string) =>
  members.filter((m) => m.key.outcome === outcome).reduce((sum, m) => sum + cellOf(m.set, 'duration').counts[1]!, 0);

function sloLine(endpointClass: EndpointClass, endpoints: string[], members: readonly Member[]): SloLine {
  const { thresholdUs, objective } = DEFAULT_OBJECTIVES[endpointClass];
  const index = ENDPOINT_CLASSES.indexOf(endpointClass);
  const judged = (outcome: string) =>
    members
      .filter((m) => m.key.outcome === outcome)
      .reduce((sum, m) => sum + cellOf(m.set, 'duration').judged[index]!, 0);
  const ok = weightOf(members, 'ok');
  const failed = weightOf(members, 'error') + weightOf(members, 'timeout') + judged('cancelled');
  const good = judged('ok');
  const total = ok + failed;
  const goodRatio = total === 0 ? null : good / total;
  const okMembers = members.filter((m) => m.key.outcome === 'ok');
  const waits = durationOf(okMembers, BASIS_OF[endpointClass], () => BASIS_OF[endpointClass]);
  const all = { ...waits, weight: waits.weight + failed, weightSquared: waits.weightSquared + failed };
  const raw = displayValue(effectiveN(all), objective, (qs) => {
    // Failures stand at +∞: a rank among them has no value, only "more than the slowest ok request".
    const scaled = qs.map((q) => (q * all.weight) / waits.weight);
    return quantilesUs(
      waits,
      scaled.map((q) => Math.min(1, q)),
    ).map((us, i) => (scaled[i]! > 1 + 1e-9 ? null : us));
  });
  return {
    ...{ endpointClass, endpoints, metric: BASIS_OF[endpointClass], thresholdMs: thresholdUs / 1000, objective },
    ...{ total, good, goodRatio, successRatio: total === 0 ? null : ok / total },
    budgetRemaining: goodRatio === null ? null : 1 - (1 - goodRatio) / (1 - objective),
    p99: clamp(raw, thresholdUs / 1000, good >= Math.ceil(objective * total - 1e-9)),
  };
}

/** Puts a shown percentile on the side of the threshold that the exact counts say. */
function clamp(value: Value, thresholdMs: number, within: boolean): Value {
  if (value.ms === null) return value;
  const ms = within ? Math.min(value.ms, thresholdMs) : Math.max(value.ms, thresholdMs);
  return { ...value, ms };
}

function sloLines(members: readonly Member[], classes: ReadonlyMap<string, EndpointClass>): SloLine[] {
  return ENDPOINT_CLASSES.flatMap((endpointClass) => {
    const endpoints = [...classes].filter(([, c]) => c === endpointClass).map(([endpoint]) => endpoint);
    if (endpoints.length === 0) return [];
    return [
      sloLine(
        endpointClass,
        endpoints,
        members.filter((m) => endpoints.includes(m.key.endpoint!)),
      ),
    ];
  });
}

type Ranked = OverviewCell & { members: Member[]; analysis: Analysis };

function rankCells(question: {
  viewer: Viewer;
  metric: Metric;
  answer: CellAnswer;
  cells: (BreakdownCell & { members: Member[] })[];
  context: LeverContext;
}): Ranked[] {
  const { viewer, metric, answer, context } = question;
  const waiting = (cell: BreakdownCell) => cell.n * (cell.wait.p99.ms ?? cell.wait.p99.lowMs ?? 1);
  const largest = [...question.cells].sort((a, b) => waiting(b) - waiting(a)).slice(0, CELLS_ANALYSED);
  const ranked = largest.map((cell): Ranked => {
    const basis = basisOf(metric, cell.endpointClass);
    const seed = seedOf(viewer, answer, [cell.endpoint, cell.clientRegion, basis, context.version]);
    const analysis = analyse({ ...sampleOf(cell.members, basis), basis, context, seed });
    const gainMs = Math.max(...LEVERS.map((lever) => analysis.gains[lever].p99.ms ?? 0));
    const { largestAvoidable, reason } = analysis;
    return { ...cell, analysis, rank: gainMs * cell.n, largestAvoidable, reason };
  });
  return ranked.sort((a, b) => b.rank - a.rank || waiting(b) - waiting(a));
}

function withoutMembers({ members: _, analysis: __, ...cell }: Ranked): OverviewCell {
  return cell;
}

/** Are we healthy, and what should we fix first? */
export async function loadOverview({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Overview> {
  const range = { projectId: viewer.projectId, fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const only = input.endpoint.length === 1 ? { endpoint: input.endpoint[0]! } : {};
  const [stored, context, newest, answer] = await Promise.all([
    loadEndpointClasses(viewer.projectId),
    loadLeverContext({ viewer }),
    newestRequestMs(viewer.projectId),
    readCells({ ...range, ...only, grouping: 'endpointClientRegion', families: ANALYSIS_FAMILIES }),
  ]);
  const { members, vantage } = selectMembers(answer.periods.get(0), input);
  const classes = classify(members, stored);
  const counted = members.filter((m) => m.key.outcome !== 'error');
  const all = breakdownCells(counted, classes, input.metric);
  const ranked = rankCells({ viewer, metric: input.metric, answer, cells: all, context });
  const shown = ranked.slice(0, CELLS_SHOWN);
  const chosen = shown.find((cell) => cell.largestAvoidable !== null) ?? shown[0];
  const shownN = shown.reduce((sum, cell) => sum + cell.n, 0);
  return {
    ...rangeOf(answer),
    vantage,
    slos: sloLines(members, classes),
    cells: shown.map(withoutMembers),
    moreCells: { cells: all.length - shown.length, n: all.reduce((sum, cell) => sum + cell.n, 0) - shownN },
    headline:
      chosen === undefined
        ? null
        : {
            cell: withoutMembers(chosen),
            breakdown: chosen.analysis,
            anatomy: anatomyPoints(
              anatomyOf(chosen.members, () => basisOf(input.metric, chosen.endpointClass)),
              ANATOMY_PERCENTILES,
            ),
          },
    newestEventAt: newest === null ? null : new Date(newest).toISOString(),
  };
}
