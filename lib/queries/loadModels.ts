import type { EndpointClass } from '../core/endpointClass';
import type { Value } from '../core/estimate';
import type { Abandonment } from '../core/models/abandonment';
import type { Causes } from '../core/models/causes';
import { type Share, wilson } from '../core/models/proportion';
import { type Swap, swapOf } from '../core/models/swap';
import { valueDifference } from '../core/models/valueDifference';
import type { SampledRequest } from '../core/request';
import type { Basis, Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type Snapshot, withSnapshot } from '../db/snapshot';
import { type AnswerRange, rangeOf } from './answer';
import { loadProjectSettings } from './loadProjectSettings';
import {
  abandonmentOf,
  countsOf,
  groupMembers,
  type HostName,
  hostOf,
  type ModelCells,
  type ModelCounts,
  type ModelName,
  merged,
  modelOf,
  modelText,
  type Percentiles,
  percentilesOf,
  readModelCells,
} from './modelCells';
import { type LoadSource, readLoad } from './modelLoad';
import {
  type BinRow,
  binsOf,
  casesOf,
  type HostPair,
  hostPairs,
  type Loaded,
  medianCauses,
  type PromptCache,
  promptCacheOf,
  rowsOf,
  type Speed,
  speedOf,
  stagesOf,
} from './modelSample';
import type { ModelsInput } from './parseModels';
import { basisOf, chooseVantage, classify, countOf, readPopulation } from './population';
import { readSampled } from './sampled';
import type { Scope } from './scope';

export type ModelRow = ModelName & ModelCounts & Speed;
export type HostRow = HostName & ModelCounts;
export type SwapRow = ModelName & Swap;
/** Why a median differs: of another model from the current one's, or of the current one from what it was before. */
export type CauseRow = Causes & { kind: 'model' | 'time'; from: string; to: string };
export type ResponseCache = { hits: number; share: Share; hit: Percentiles; other: Percentiles; p50Difference: Value };

export type Models = AnswerRange & {
  /** The one endpoint it is about: endpoints are never pooled. Null without requests. */
  endpoint: string | null;
  endpointClass: EndpointClass | null;
  /** Which duration the wait is. */
  basis: Basis;
  vantage: Vantage | null;
  /** All endpoints of the scope, most requests first. */
  endpoints: { endpoint: string; n: number }[];
  /** Sampled requests that comparisons are made of; `complete`: they are all there are. */
  sampled: number;
  complete: boolean;
  /** How much lower (a share) success may be at the worst. */
  successDropMax: number;
  models: ModelRow[];
  hosts: HostRow[];
  /** "provider/model" that others are held against. */
  current: string | null;
  swaps: SwapRow[];
  /** The stage in view, and all that name a model. */
  stage: string | null;
  stages: string[];
  hostPairs: HostPair[];
  abandonment: Abandonment | null;
  loadSource: LoadSource;
  bins: BinRow[];
  causes: CauseRow[];
  responseCache: ResponseCache | null;
  promptCache: PromptCache | null;
};

/** More models than these are counted, but not compared. */
const COMPARED_MAX = 6;
const EMPTY = {
  ...{ endpoint: null, endpointClass: null, basis: 'e2e' as const, sampled: 0, complete: true, models: [], hosts: [] },
  ...{ current: null, swaps: [], stages: [], hostPairs: [], abandonment: null, loadSource: null, bins: [], causes: [] },
  ...{ responseCache: null, promptCache: null },
};

/** Which model, at what cost? Of one endpoint: the one asked for, else the one with the most requests. */
export async function loadModels({ viewer, input }: { viewer: Viewer; input: ModelsInput }): Promise<Models> {
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const [stored, { successDropMax }] = await Promise.all([
    loadEndpointClasses(viewer.projectId),
    loadProjectSettings({ viewer }),
  ]);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, range);
    const endpoints = await endpointsOf(snapshot, { scope: input, vantage, range });
    const answer = rangeOf(snapshot, snapshot.effective(range), input.timeZone);
    const shared = { ...answer, vantage, endpoints, successDropMax, stage: input.stage };
    const endpoint = endpoints[0]?.endpoint ?? null;
    if (endpoint === null) return { ...shared, ...EMPTY };
    const classes = await classify(snapshot, { endpoints: [endpoint], stored, vantage, range });
    const endpointClass = classes.get(endpoint)!;
    const basis = basisOf(input.metric, endpointClass);
    const cells = await readModelCells(snapshot, { scope: input, endpoint, vantage, range });
    const about = { endpoint, vantage, basis, scope: input };
    const { rows, complete, source } = await readRows(snapshot, about);
    const before = await readRows(snapshot, { ...about, scope: { ...input, ...beforeOf(input) } });
    return {
      ...{ ...shared, endpoint, endpointClass, basis, sampled: rows.length, complete, loadSource: source },
      ...studyOf({ input, basis, cells, rows, before: before.rows, successDropMax }),
    };
  });
}

type About = { scope: Scope; endpoint: string; vantage: Vantage | null; basis: Basis };

async function endpointsOf(
  snapshot: Snapshot,
  question: {
    scope: Scope;
    vantage: Vantage | null;
    range: { fromUs: number; toUs: number; finest: 'hour' };
  },
): Promise<Models['endpoints']> {
  const { members } = await readPopulation(snapshot, { ...question, dimensions: ['endpoint'], families: ['counts'] });
  return groupMembers(members, (key) => key.endpoint!).map(({ name, members: own }) => ({
    endpoint: name,
    n: countOf(own, 'n'),
  }));
}

/** As long before, unless an earlier window is asked for. */
function beforeOf({ before, fromUs, toUs }: ModelsInput): { fromUs: number; toUs: number } {
  return before ?? { fromUs: fromUs - (toUs - fromUs), toUs: fromUs };
}

async function readRows(
  snapshot: Snapshot,
  { scope, endpoint, vantage, basis }: About,
): Promise<{ rows: Loaded[]; complete: boolean; source: LoadSource }> {
  const { clientRegion, fromUs, toUs } = scope;
  const { sampledOf } = await readSampled(snapshot, {
    ...{ scope: { ...scope, endpoint: [endpoint] }, vantage, basis, many: false, groupOf: () => 'all' },
    leading: clientRegion.length === 0 ? [{ endpoint }] : clientRegion.map((one) => ({ endpoint, clientRegion: one })),
  });
  const { rows, complete } = sampledOf('all');
  const inside = rows.filter((row: SampledRequest) => row.startedAtUs >= fromUs && row.startedAtUs < toUs);
  const loaded = await readLoad(snapshot, { rows: inside, endpoint, vantage, fromUs, toUs });
  return { ...loaded, complete };
}

type Study = {
  input: ModelsInput;
  basis: Basis;
  cells: ModelCells;
  rows: Loaded[];
  before: Loaded[];
  successDropMax: number;
};

function studyOf(study: Study) {
  const { input, basis, cells, rows } = study;
  const models = groupMembers(cells.live, modelOf).map(
    ({ name, members }): ModelRow => ({
      ...{ ...name, ...countsOf(members, basis, input.outcome), ...speedOf(rowsOf(rows, name)) },
    }),
  );
  const hosts = groupMembers(cells.live, hostOf).map(
    ({ name, members }): HostRow => ({ ...name, ...countsOf(members, basis, input.outcome) }),
  );
  const current = models.find((model) => modelText(model) === input.current) ?? models[0] ?? null;
  const compared = models.slice(0, COMPARED_MAX);
  return {
    ...{ models, hosts, current: current && modelText(current) },
    swaps: current === null ? [] : swapsOf(study, current, compared),
    stages: stagesOf(rows),
    hostPairs: hostPairs(rows, { basis, stage: input.stage }),
    abandonment: abandonmentOf(cells.live, basis),
    bins: binsOf(rows, compared, basis),
    causes: current === null ? [] : causeRows(study, current, compared),
    responseCache: responseCacheOf(cells, basis),
    promptCache: promptCacheOf(rows, basis),
  };
}

const isOther = (current: ModelName) => (model: ModelName) => modelText(model) !== modelText(current);

function swapsOf({ rows, basis, successDropMax }: Study, current: ModelRow, compared: readonly ModelRow[]): SwapRow[] {
  const side = (model: ModelRow) => ({
    ...{ cases: casesOf(rowsOf(rows, model), basis), success: model.success, quality: model.quality },
  });
  return compared.filter(isOther(current)).map((candidate) => ({
    ...{ provider: candidate.provider, model: candidate.model },
    ...swapOf(side(current), side(candidate), successDropMax),
  }));
}

function causeRows({ rows, before, basis }: Study, current: ModelRow, compared: readonly ModelRow[]): CauseRow[] {
  const own = rowsOf(rows, current);
  const name = modelText(current);
  return [
    { kind: 'time', from: name, to: name, ...medianCauses(rowsOf(before, current), own, basis) },
    ...compared.filter(isOther(current)).map(
      (model): CauseRow => ({
        ...{ kind: 'model', from: name, to: modelText(model) },
        ...medianCauses(own, rowsOf(rows, model), basis),
      }),
    ),
  ];
}

function responseCacheOf({ live, cached }: ModelCells, basis: Basis): ResponseCache | null {
  const [hits, others] = [countOf(cached, 'n'), countOf(live, 'n')];
  if (hits === 0) return null;
  const [weight, rest] = [countOf(cached, 'weight'), countOf(live, 'weight')];
  const [hit, other] = [percentilesOf(merged(cached, basis)), percentilesOf(merged(live, basis))];
  return {
    ...{ hits, share: wilson(weight / (weight + rest), hits + others), hit, other },
    p50Difference: valueDifference(hit.p50, other.p50),
  };
}
