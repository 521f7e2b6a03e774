// What each lever would have saved each request, in µs: its avoidable time, with whom the floor is from.
//
// Levers act on their own terms, so what several save adds up, but for geography's share of connection set-up: that
// overlap with keeping connections warm is kept beside.

import {
  baselineFor,
  type FloorInfo,
  type LeverContext,
  MODEL_HOP_FLOOR_US,
  overrideFor,
  ROUTING_FLOOR_US,
} from './floors';
import { type PlacementScenario, planPlacement } from './placement';
import { roundTripMs } from './regions';
import { type SampledRequest, waitUs } from './request';
import { type Basis, LEVERS, type Lever, MEASURED_TERMS, type MeasuredTerm } from './terms';

export type { Baseline, FloorInfo, FloorOverride, LeverContext } from './floors';

/** The terms a lever acts on; its gain is unknown where none of them was measured in any request. */
export const TERMS_OF: Record<Lever, readonly MeasuredTerm[]> = {
  geography: ['network', 'connection', 'backbone'],
  connection: ['connection'],
  queue: ['queue'],
  routing: ['routing'],
  coldStart: ['coldStart'],
  retry: ['retry'],
  modelHop: ['modelHop', 'model'],
  model: ['model'],
  application: ['application'],
};

export type Savings = {
  /** The requests that tell a wait on this basis, and per request, in their order: */
  rows: readonly SampledRequest[];
  waitUs: Float64Array;
  weights: Float64Array;
  /** Null where the lever's terms were measured in no request. */
  savedUs: Record<Lever, Float64Array | null>;
  /** What two levers would both count, to be taken off when they act together. */
  overlaps: { levers: readonly [Lever, Lever]; us: Float64Array }[];
  floors: Record<Lever, FloorInfo>;
  placements: PlacementScenario[];
  placementWords: string | null;
};

const INDEX = Object.fromEntries(MEASURED_TERMS.map((term, i) => [term, i])) as Record<MeasuredTerm, number>;
const termUs = (row: SampledRequest, term: MeasuredTerm) => row.terms[INDEX[term]] ?? null;

/** What every lever would save every request that has a wait on this basis. */
export function savingsOf(question: { rows: readonly SampledRequest[]; basis: Basis; context: LeverContext }): Savings {
  const rows = question.rows.filter((row) => waitUs(row, question.basis) !== null);
  const wait = Float64Array.from(rows, (row) => waitUs(row, question.basis) ?? Number.NaN);
  const placement = planPlacement(rows, question.context);
  const resolved = resolveFloors(rows, question.context);
  const queueFloorUs = lowestDecile(rows);
  const saved = Object.fromEntries(
    LEVERS.map((lever) => [lever, isMeasured(rows, lever) ? new Float64Array(rows.length) : null]),
  ) as Record<Lever, Float64Array | null>;
  const setupTwice = new Float64Array(rows.length);
  rows.forEach((row, i) => {
    const floors = resolved.of(row);
    const limit = wait[i]!;
    const put = (lever: Lever, us: number) => {
      const into = saved[lever];
      if (into !== null) into[i] = Math.min(limit, us);
    };
    const network = floors.geography;
    put('geography', network === null ? placement.savedUs[i]! : beyond(termUs(row, 'network'), network));
    put('connection', connectionSavedUs(row, floors.connection));
    put('queue', beyond(termUs(row, 'queue'), floors.queue ?? queueFloorUs));
    put('routing', beyond(termUs(row, 'routing'), floors.routing ?? ROUTING_FLOOR_US));
    put('coldStart', beyond(termUs(row, 'coldStart'), floors.coldStart ?? 0));
    put('retry', beyond(termUs(row, 'retry'), floors.retry ?? 0));
    for (const lever of ['model', 'application'] as const)
      if (floors[lever] !== null) put(lever, beyond(termUs(row, lever), floors[lever]));
    const hop = hopSavedUs(row, question.context, floors.modelHop);
    // A target of the model's own keeps its time: nothing is counted twice
    put('modelHop', hop.fromHop + (floors.model === null ? hop.fromModel : 0));
    if (network === null)
      setupTwice[i] = twice(placement.setupUs[i]!, saved.connection?.[i], termUs(row, 'connection'));
  });
  const isSet = question.context.overrides.some((o) => o.lever === 'geography');
  return {
    ...{ rows, waitUs: wait, savedUs: saved, placements: placement.scenarios },
    weights: Float64Array.from(rows, (row) => row.weight),
    overlaps: [{ levers: ['geography', 'connection'], us: setupTwice }],
    floors: floorInfos(resolved.seen, question.context, queueFloorUs),
    placementWords: isSet && [...resolved.seen.values()].every((f) => f.geography !== null) ? null : placement.words,
  };
}

function isMeasured(rows: readonly SampledRequest[], lever: Lever): boolean {
  const indexes = TERMS_OF[lever].map((term) => INDEX[term]);
  return rows.some((row) => indexes.some((at) => (row.terms[at] ?? null) !== null));
}

function beyond(us: number | null, floorUs: number): number {
  return us === null ? 0 : Math.max(0, us - floorUs);
}

/** What two savings on the same term count twice. */
function twice(one: number, other: number | undefined, term: number | null): number {
  return term === null || other === undefined ? 0 : Math.max(0, one + other - term);
}

/** Set-up could be saved whole, but for one round trip of a user's very first connection. */
function connectionSavedUs(row: SampledRequest, floorUs: number | null): number {
  const us = termUs(row, 'connection');
  if (floorUs !== null) return beyond(us, floorUs);
  if (us === null || row.connection !== 'first') return beyond(us, 0);
  const table = roundTripMs(row.dims.clientRegion, row.dims.serviceRegion);
  const rttUs = row.rttUs ?? (table === null ? null : Math.round(table.ms * 1000));
  return rttUs === null ? 0 : beyond(us, rttUs);
}

/** How much of a call's end is its own: time after every other call that began before it ended. */
function slackUs(row: SampledRequest, at: number): number {
  const call = row.calls[at]!;
  if (call.startOffsetUs === null) return call.durationUs;
  const end = call.startOffsetUs + call.durationUs;
  let latest = call.startOffsetUs;
  row.calls.forEach((other, i) => {
    if (i === at || other.startOffsetUs === null || other.startOffsetUs >= end) return;
    latest = Math.max(latest, other.startOffsetUs + other.durationUs);
  });
  return Math.max(0, end - latest);
}

/** Saved on the model API hop, call by call where calls are known; a baseline may reach into the model's time. */
function hopSavedUs(
  row: SampledRequest,
  context: LeverContext,
  floorUs: number | null,
): { fromHop: number; fromModel: number } {
  const hopTerm = termUs(row, 'modelHop');
  const modelTerm = termUs(row, 'model');
  const isStaged = context.overrides.some((o) => o.lever === 'modelHop' && o.stage !== undefined);
  const calls = row.calls.map((call, at) => ({ call, at })).filter(({ call }) => call.hopUs !== null);
  if (floorUs !== null && !isStaged) {
    const own = calls.reduce((sum, { call, at }) => sum + Math.min(call.hopUs ?? 0, slackUs(row, at)), 0);
    const saved = beyond(hopTerm, floorUs);
    return { fromHop: calls.length > 0 ? Math.min(saved, own) : saved, fromModel: 0 };
  }
  let fromHop = 0;
  let fromModel = 0;
  if (row.calls.length === 0) {
    const baseline = baselineFor(context, { ...row.dims, stage: null });
    if (baseline === null || (hopTerm === null && modelTerm === null))
      return { fromHop: beyond(hopTerm, floorUs ?? MODEL_HOP_FLOOR_US), fromModel };
    const over = Math.max(0, sum(hopTerm, modelTerm) - baseline.baselineMs * 1000);
    fromHop = Math.min(over, hopTerm ?? 0);
    return { fromHop, fromModel: Math.min(over - fromHop, modelTerm ?? 0) };
  }
  row.calls.forEach((call, at) => {
    const told = { provider: call.provider ?? row.dims.provider, model: call.model ?? row.dims.model };
    const baseline = baselineFor(context, { ...told, modelRegion: call.modelRegion, stage: call.stage });
    const stageFloor = overrideFor(context, 'modelHop', { ...row.dims, stage: call.stage });
    const slack = slackUs(row, at);
    if (baseline !== null && stageFloor === null) {
      const over = Math.min(slack, Math.max(0, call.durationUs - baseline.baselineMs * 1000));
      const hop = Math.min(over, call.hopUs ?? 0);
      fromHop += hop;
      fromModel += Math.min(over - hop, call.modelUs ?? over);
      return;
    }
    fromHop += Math.min(
      slack,
      beyond(call.hopUs, stageFloor === null ? MODEL_HOP_FLOOR_US : stageFloor.floorMs * 1000),
    );
  });
  if (calls.length === 0 && fromModel === 0)
    fromHop = beyond(hopTerm, MODEL_HOP_FLOOR_US * Math.max(1, row.calls.length));
  return { fromHop: Math.min(fromHop, hopTerm ?? 0), fromModel: Math.min(fromModel, modelTerm ?? 0) };
}

const sum = (a: number | null, b: number | null) => (a ?? 0) + (b ?? 0);

/** The queue's own p10 (µs) among these requests: what it takes when nothing waits. */
function lowestDecile(rows: readonly SampledRequest[]): number {
  const waits = rows
    .flatMap((row) => {
      const us = termUs(row, 'queue');
      return us === null ? [] : [{ us, weight: row.weight }];
    })
    .sort((a, b) => a.us - b.us);
  const target = 0.1 * waits.reduce((total, one) => total + one.weight, 0) - 1e-9;
  let seen = 0;
  for (const one of waits) {
    seen += one.weight;
    if (seen >= target) return one.us;
  }
  return 0;
}

type Resolved = Record<Lever, number | null>;

/** The absolute floor (µs) of each lever at each place, null where none is set. */
function resolveFloors(rows: readonly SampledRequest[], context: LeverContext) {
  const seen = new Map<string, Resolved>();
  const of = (row: SampledRequest): Resolved => {
    const { endpoint, clientRegion, serviceRegion } = row.dims;
    const key = `${endpoint}\n${clientRegion}\n${serviceRegion}`;
    let floors = seen.get(key);
    if (floors === undefined) {
      floors = Object.fromEntries(
        LEVERS.map((lever) => {
          const override = overrideFor(context, lever, { endpoint, clientRegion, serviceRegion });
          return [lever, override === null ? null : Math.round(override.floorMs * 1000)];
        }),
      ) as Resolved;
      seen.set(key, floors);
    }
    return floors;
  };
  for (const row of rows) of(row);
  return { of, seen };
}

const DEFAULT_FLOORS: Record<Lever, FloorInfo> = {
  geography: { kind: 'relative', source: 'best region the service could run in, by round trips' },
  connection: { kind: 'default', ms: 0, source: 'a connection kept warm' },
  queue: { kind: 'relative', source: "the queue's own p10" },
  routing: { kind: 'default', ms: ROUTING_FLOOR_US / 1000, source: 'what one internal hop takes' },
  coldStart: { kind: 'default', ms: 0, source: 'a warm replica' },
  retry: { kind: 'default', ms: 0, source: 'the first attempt succeeds' },
  modelHop: { kind: 'default', ms: MODEL_HOP_FLOOR_US / 1000, source: 'each call, to a model next door' },
  model: { kind: 'none', source: 'no target is set' },
  application: { kind: 'none', source: 'no target is set' },
};

function floorInfos(
  seen: Map<string, Resolved>,
  context: LeverContext,
  queueFloorUs: number,
): Record<Lever, FloorInfo> {
  const info = (lever: Lever): FloorInfo => {
    const values = new Set([...seen.values()].map((floors) => floors[lever]));
    const set = [...values].filter((us) => us !== null);
    if (set.length > 0) {
      const isTarget = lever === 'model' || lever === 'application';
      const source = values.size === 1 ? `set in the project, version ${context.version}` : 'set for some places';
      return { kind: isTarget ? 'target' : 'override', source, ...(values.size === 1 ? { ms: set[0]! / 1000 } : {}) };
    }
    if (lever === 'queue') return { ...DEFAULT_FLOORS.queue, ms: queueFloorUs / 1000 };
    if (lever === 'modelHop' && (context.baselines ?? []).length > 0)
      return { kind: 'baseline', source: 'the baseline of each call that has one, else 2 ms a call' };
    if (lever === 'geography' && context.deployableRegions !== null)
      return { kind: 'relative', source: `best of the ${context.deployableRegions.length} deployable regions` };
    return DEFAULT_FLOORS[lever];
  };
  return Object.fromEntries(LEVERS.map((lever) => [lever, info(lever)])) as Record<Lever, FloorInfo>;
}
