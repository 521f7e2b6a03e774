// What each lever would have saved each request, in µs: its avoidable time, with whom the floor is from.
//
// Levers act on their own terms, so what several save adds up, but for geography's share of connection set-up: that
// overlap with keeping connections warm is kept beside.

import { beyond, hopSavedUs, stageTargetSavedUs } from './callSavings';
import { floorInfos, queueFloorsOf, type ResolvedFloors, resolveFloors } from './floorInfos';
import { type FloorInfo, type LeverContext, ROUTING_FLOOR_US } from './floors';
import { type PlacementScenario, planPlacement } from './placement';
import { createTrips, type Trips } from './regions';
import { queueKindOf, type SampledRequest, waitUs } from './request';
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
  /** Null where the lever's terms were measured in no request. */
  savedUs: Record<Lever, Float64Array | null>;
  /** What two levers would both count, to be taken off when they act together. */
  overlaps: { levers: readonly [Lever, Lever]; us: Float64Array }[];
  floors: Record<Lever, FloorInfo>;
  placements: PlacementScenario[];
  placementWords: string | null;
};

const INDEX = Object.fromEntries(MEASURED_TERMS.map((term, i) => [term, i])) as Record<MeasuredTerm, number>;
const { connection: CONNECTION, network: NETWORK, queue: QUEUE, routing: ROUTING } = INDEX;
const { coldStart: COLD_START, retry: RETRY } = INDEX;
const TARGETS = ['model', 'application'] as const;

/** What every lever would save every request that has a wait on this basis. */
export function savingsOf(question: { rows: readonly SampledRequest[]; basis: Basis; context: LeverContext }): Savings {
  const { basis, context } = question;
  const { rows, wait } = timed(question.rows, basis);
  const n = rows.length;
  const trips = createTrips(context.probedMs);
  const placement = planPlacement(rows, context, trips);
  const resolved = resolveFloors(rows, context);
  const queueFloors = queueFloorsOf(rows, context);
  const saved = Object.fromEntries(
    LEVERS.map((lever) => [lever, isMeasured(rows, lever) ? new Float64Array(n) : null]),
  ) as Record<Lever, Float64Array | null>;
  const setupTwice = new Float64Array(n);
  const hasStages = context.overrides.some((o) => o.stage !== undefined);
  for (let i = 0; i < n; i++) {
    const row = rows[i]!;
    const { terms } = row;
    const floors = resolved.of(row);
    const limit = wait[i]!;
    const put = (lever: Lever, us: number) => {
      const into = saved[lever];
      if (into !== null) into[i] = Math.min(us, limit);
    };
    put(
      'geography',
      floors.geography === null ? placement.savedUs[i]! : beyond(terms[NETWORK] ?? null, floors.geography),
    );
    put('connection', connectionSavedUs(row, floors.connection, trips));
    if (queueKindOf(row) !== 'scheduled')
      put('queue', beyond(terms[QUEUE] ?? null, floors.queue ?? queueFloors.of(row)));
    put('routing', beyond(terms[ROUTING] ?? null, floors.routing ?? ROUTING_FLOOR_US));
    put('coldStart', beyond(terms[COLD_START] ?? null, floors.coldStart ?? 0));
    put('retry', beyond(terms[RETRY] ?? null, floors.retry ?? 0));
    for (const lever of TARGETS) {
      const floor = floors[lever];
      if (floor !== null) put(lever, beyond(terms[INDEX[lever]] ?? null, floor));
      else if (hasStages && row.calls.length > 0) put(lever, stageTargetSavedUs(row, lever, context));
    }
    const hop = hopSavedUs(row, context, floors.modelHop);
    // A target of the model's own keeps its time: nothing is counted twice
    put('modelHop', hop.fromHop + (floors.model === null ? hop.fromModel : 0));
    if (floors.geography === null)
      setupTwice[i] = twice(placement.setupUs[i]!, saved.connection?.[i], terms[CONNECTION] ?? null);
  }
  return {
    ...{ rows, waitUs: wait, savedUs: saved, placements: placement.scenarios },
    overlaps: [{ levers: ['geography', 'connection'], us: setupTwice }],
    floors: floorInfos(resolved.seen, context, queueFloors),
    placementWords: isPlaced(resolved.seen, context) ? null : placement.words,
  };
}

/** The rows that tell a wait on this basis, and it. */
function timed(all: readonly SampledRequest[], basis: Basis): { rows: readonly SampledRequest[]; wait: Float64Array } {
  const wait = new Float64Array(all.length);
  const rows: SampledRequest[] = [];
  for (const row of all) {
    const us = waitUs(row, basis);
    if (us === null) continue;
    wait[rows.length] = us;
    rows.push(row);
  }
  return { rows, wait: wait.subarray(0, rows.length) };
}

function isMeasured(rows: readonly SampledRequest[], lever: Lever): boolean {
  const indexes = TERMS_OF[lever].map((term) => INDEX[term]);
  return rows.some((row) => indexes.some((at) => (row.terms[at] ?? null) !== null));
}

/** Everywhere in view, geography has a floor that somebody set. */
function isPlaced(seen: ReadonlyMap<string, ResolvedFloors>, context: LeverContext): boolean {
  return (
    context.overrides.some((o) => o.lever === 'geography') && [...seen.values()].every((f) => f.geography !== null)
  );
}

/** What two savings on the same term count twice. */
function twice(one: number, other: number | undefined, term: number | null): number {
  return term === null || other === undefined ? 0 : Math.max(0, one + other - term);
}

/** Set-up could be saved whole, but for one round trip of a user's very first connection. */
function connectionSavedUs(row: SampledRequest, floorUs: number | null, trips: Trips): number {
  const us = row.terms[CONNECTION] ?? null;
  if (us === null) return 0;
  if (floorUs !== null) return beyond(us, floorUs);
  if (row.connection !== 'first') return us;
  const table = trips(row.dims.clientRegion, row.dims.serviceRegion);
  const rttUs = row.rttUs ?? (table === null ? null : Math.round(table.ms * 1000));
  return rttUs === null ? 0 : beyond(us, rttUs);
}
