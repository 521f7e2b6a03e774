import { type AnatomyPoint, anatomyPoints } from '../core/anatomy';
import { BASIS_OF, DEFAULT_OBJECTIVES, type EndpointClass } from '../core/endpointClass';
import { type Analysis, analyse } from '../core/gains';
import type { LeverContext } from '../core/levers';
import { LEVERS, type Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses, newestRequestMs } from '../db/endpointClasses';
import { type Snapshot, withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
import { type BreakdownCell, type Pair, pairName, pairsOf, readCells } from './breakdownCells';
import { readCellRows } from './cellRows';
import { ANATOMY_PERCENTILES, type Breakdown } from './loadBreakdown';
import { loadLeverContext } from './loadLeverContext';
import { basisOf, chooseVantage, classify, countOf, isTimed, readPopulation } from './population';
import { readSampled, type Sampled, seedOf } from './sampled';
import type { Scope } from './scope';
import { judge, type SloLine, sloLines } from './sloLines';

export type { SloLine } from './sloLines';

export type OverviewCell = BreakdownCell & {
  /** Requests that the best lever would bring inside the objective of their class: what the ranking goes by. */
  comesInside: number;
  /** Where none would: requests × gain of the best lever at p99 (request-milliseconds); null: no gain known. */
  rank: number | null;
  largestAvoidable: Breakdown['largestAvoidable'];
  reason: Breakdown['reason'];
};

export type Overview = AnswerRange & {
  /** The requests that gains are read from: whole local days when the range is long. */
  gainsFrom: string;
  gainsTo: string;
  vantage: Vantage | null;
  slos: SloLine[];
  /** The ten largest, ranked; `moreCells` says how many and how many requests are not shown. */
  cells: OverviewCell[];
  moreCells: { cells: number; n: number };
  /** The cell the sentence is about: the first ranked with a lever named at p99, else with any, else the first. */
  headline: {
    cell: OverviewCell;
    breakdown: Pick<Breakdown, 'floors' | 'gains' | 'largestAvoidable' | 'reason' | 'tailLever'>;
    anatomy: AnatomyPoint[];
  } | null;
  /** Null: nothing has ever been received. */
  newestEventAt: string | null;
};

const CELLS_SHOWN = 10;
/** Gains are computed for the cells with the most requests outside their objective only: no other can gain more. */
const CELLS_ANALYSED = 10;
/** A row of the table shows a name and a gain, no interval; the sentence's own cell is drawn in full. */
const REPLICATES_A_ROW = 200;

type Question = {
  viewer: Viewer;
  scope: Scope;
  snapshot: Snapshot;
  vantage: Vantage | null;
  range: { fromUs: number; toUs: number; finest: 'hour' };
  classes: ReadonlyMap<string, EndpointClass>;
  context: LeverContext;
};

/** The pairs that could gain most: requests outside the objective first, then requests. */
function candidates(pairs: readonly Pair[], classes: ReadonlyMap<string, EndpointClass>): Pair[] {
  const measured = pairs.map((pair) => {
    const { ok, good, failed } = judge(pair.members, classes.get(pair.endpoint)!);
    return { pair, outside: ok - good + failed, n: countOf(pair.members.filter(isTimed), 'n') };
  });
  return measured
    .filter((one) => one.n > 0)
    .sort((a, b) => b.outside - a.outside || b.n - a.n)
    .slice(0, CELLS_ANALYSED)
    .map((one) => one.pair);
}

type SampledPairs = { sampledOf: (pair: Pair) => Sampled; fromUs: number; toUs: number };

/** Whole requests of every pair, each on its endpoint's basis. */
async function readPairs(question: Question, pairs: readonly Pair[]): Promise<SampledPairs> {
  const { scope, snapshot, vantage, classes } = question;
  const basisOfPair = (pair: Pair) => basisOf(scope.metric, classes.get(pair.endpoint)!);
  const read = (basis: 'e2e' | 'ttft') =>
    readSampled(snapshot, {
      ...{ scope, vantage, basis, many: true, groupOf: pairName },
      leading: pairs.filter((pair) => basisOfPair(pair) === basis),
    });
  const byBasis = { e2e: await read('e2e'), ttft: await read('ttft') };
  return {
    sampledOf: (pair) => byBasis[basisOfPair(pair)].sampledOf(pairName(pair)),
    ...{ fromUs: byBasis.e2e.effectiveFromUs, toUs: byBasis.e2e.effectiveToUs },
  };
}

function analysePair(question: Question, pair: Pair, sampled: SampledPairs): Analysis {
  const { viewer, scope, vantage, classes, context } = question;
  const basis = basisOf(scope.metric, classes.get(pair.endpoint)!);
  const cell = [vantage, pair.endpoint, pair.clientRegion, basis, sampled.fromUs, sampled.toUs, context.version];
  return analyse({
    ...{ ...sampled.sampledOf(pair), basis, context, seed: seedOf({ viewer, scope }, cell) },
    ...objectiveOf(question, pair),
    replicates: REPLICATES_A_ROW,
  });
}

/** The default objective of the pair's class, where the metric in view is the one that it is about. */
function objectiveOf({ scope, classes }: Question, pair: Pair): { objectiveUs?: number } {
  const endpointClass = classes.get(pair.endpoint)!;
  if (basisOf(scope.metric, endpointClass) !== BASIS_OF[endpointClass]) return {};
  return { objectiveUs: DEFAULT_OBJECTIVES[endpointClass].thresholdUs };
}

/** The cell of the sentence once more, from as many requests as its own page reads: both say the same. */
async function analyseWhole(question: Question, pair: Pair): Promise<Analysis> {
  const { viewer, snapshot, vantage, classes, context } = question;
  const clientRegion = pair.clientRegion === null ? [] : [pair.clientRegion];
  const cell = await readCellRows(snapshot, {
    ...{ viewer, snapshot, vantage, floorsVersion: context.version },
    scope: { ...question.scope, endpoint: [pair.endpoint], clientRegion },
    classes: new Map([[pair.endpoint, classes.get(pair.endpoint)!]]),
  });
  return analyse({ ...cell, context });
}

/** n × the largest known gain at p99. */
function rankOf(cell: BreakdownCell, analysis: Analysis): number | null {
  const gains = LEVERS.map((lever) => analysis.gains[lever].p99.ms).filter((ms) => ms !== null);
  return gains.length === 0 ? null : Math.max(...gains) * cell.n;
}

type Ranked = { cell: OverviewCell; pair: Pair; analysis: Analysis };

function byRank(a: Ranked, b: Ranked): number {
  if (a.cell.comesInside !== b.cell.comesInside) return b.cell.comesInside - a.cell.comesInside;
  if (a.cell.rank === null || b.cell.rank === null)
    return Number(a.cell.rank === null) - Number(b.cell.rank === null) || b.cell.n - a.cell.n;
  return b.cell.rank - a.cell.rank || b.cell.n - a.cell.n;
}

/** The first whose p99 can be spoken of, else the first with anything to name: few requests never take the sentence over. */
function sentenceCell(ranked: readonly Ranked[]): Ranked | undefined {
  const named = ranked.filter(({ cell }) => cell.largestAvoidable !== null);
  return named.find(({ cell }) => cell.largestAvoidable?.quantile === 'p99') ?? named[0] ?? ranked[0];
}

/** Are we healthy, and what should we fix first? */
export async function loadOverview({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Overview> {
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const [stored, context, newest] = await Promise.all([
    loadEndpointClasses(viewer.projectId),
    loadLeverContext({ viewer }),
    newestRequestMs(viewer.projectId),
  ]);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, range);
    const base = { scope: input, vantage, range };
    const counts = await readPopulation(snapshot, {
      ...{ ...base, dimensions: ['endpoint', 'clientRegion'], families: ['counts'] },
    });
    const pairs = pairsOf(counts.members);
    const endpoints = pairs.map((pair) => pair.endpoint);
    const classes = await classify(snapshot, { endpoints, stored, vantage, range });
    const judged = await readPopulation(snapshot, {
      ...{ ...base, dimensions: ['endpoint'], families: ['counts', 'e2e', 'ttft'] },
    });
    const question: Question = { viewer, scope: input, snapshot, vantage, range, classes, context };
    const chosen = candidates(pairs, classes);
    const { cells, anatomyOf } = await readCells(snapshot, { ...base, pairs: chosen, classes });
    const sampled = await readPairs(question, chosen);
    const ranked = cells.map((cell, i): Ranked => {
      const pair = chosen[i]!;
      const analysis = analysePair(question, pair, sampled);
      const { largestAvoidable, reason } = analysis;
      const [rank, comesInside] = [rankOf(cell, analysis), Math.round(analysis.comesInside?.n ?? 0)];
      return { cell: { ...cell, comesInside, rank, largestAvoidable, reason }, pair, analysis };
    });
    const shown = ranked.sort(byRank).slice(0, CELLS_SHOWN);
    const first = sentenceCell(shown);
    // A client region that nobody told cannot be asked for by itself
    if (first !== undefined && first.pair.clientRegion !== null) {
      first.analysis = await analyseWhole(question, first.pair);
      first.cell.largestAvoidable = first.analysis.largestAvoidable;
      first.cell.reason = first.analysis.reason;
    }
    const timed = pairs.filter((pair) => pair.members.some(isTimed));
    const n = timed.reduce((sum, pair) => sum + countOf(pair.members.filter(isTimed), 'n'), 0);
    return {
      ...rangeOf(snapshot, snapshot.effective(range), input.timeZone),
      gainsFrom: formatInstant(sampled.fromUs / 1000, input.timeZone),
      gainsTo: formatInstant(sampled.toUs / 1000, input.timeZone),
      vantage,
      slos: sloLines(judged.members, classes),
      cells: shown.map(({ cell }) => cell),
      moreCells: { cells: timed.length - shown.length, n: shown.reduce((rest, { cell }) => rest - cell.n, n) },
      headline:
        first === undefined ? null : headlineOf(first, anatomyPoints(anatomyOf(first.pair), ANATOMY_PERCENTILES)),
      newestEventAt: newest === null ? null : formatInstant(newest, input.timeZone),
    };
  });
}

function headlineOf({ cell, analysis }: Ranked, anatomy: AnatomyPoint[]): NonNullable<Overview['headline']> {
  const { floors, gains, largestAvoidable, reason, tailLever } = analysis;
  return { cell, breakdown: { floors, gains, largestAvoidable, reason, tailLever }, anatomy };
}
