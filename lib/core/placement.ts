// Geography as placement: what moving the service, alone or with its model, would save each request.
//
// saved = k · (rtt(client, service) − rtt(client, there)) over the request's round trips and the round-trip share of
// connection set-up, + what crossing between own regions costs beyond its floor, − what longer calls from there to the
// model would cost. Relative, so a cellular last mile cancels out. Never more than observed in network + set-up + backbone.

import { callPath, isModelCall } from './callPath';
import { BACKBONE_FLOOR_US, type LeverContext } from './floors';
import { parseRegion, regionKey, regionsOf, type Trips } from './regions';
import type { SampledRequest } from './request';
import { MEASURED_TERMS } from './terms';

const NETWORK = MEASURED_TERMS.indexOf('network');
const CONNECTION = MEASURED_TERMS.indexOf('connection');
const BACKBONE = MEASURED_TERMS.indexOf('backbone');
const MODEL = MEASURED_TERMS.indexOf('model');
const HOP = MEASURED_TERMS.indexOf('modelHop');
/** TCP and TLS 1.3. More is the last mile, DNS or an older TLS: not claimed. */
const SETUP_ROUND_TRIPS = 2;
const SELF_HOSTED = /^(self[-_ ]?hosted|local|own|vllm|ollama|tgi|sglang|triton|llama\.?cpp)$/i;

/** One way to serve a client region from elsewhere. A negative saving is a loss. */
export type PlacementScenario = {
  clientRegion: string;
  serviceRegion: string;
  toRegion: string;
  withModel: boolean;
  words: string;
  /** Mean saving a request (ms), weights counted. */
  meanSavedMs: number;
  losing: boolean;
  chosen: boolean;
};

export type Placement = {
  /** Net saving a request (µs, may be negative for single requests), and how much of it is connection set-up. */
  savedUs: Float64Array;
  setupUs: Float64Array;
  scenarios: PlacementScenario[];
  /** The scenario that brings most, in words; null when none helps. */
  words: string | null;
};

type Leg = { region: string | null; isMovable: boolean; key: string };
type Group = { client: string; service: string; rows: number[]; legs: Leg[][] };
type Move = { toRegion: string; withModel: boolean };

/** Plans the best allowed placement for each (client region, service region) of the rows. */
export function planPlacement(rows: readonly SampledRequest[], context: LeverContext, trips: Trips): Placement {
  const plan: Placement = {
    savedUs: new Float64Array(rows.length),
    setupUs: new Float64Array(rows.length),
    scenarios: [],
    words: null,
  };
  let most = 0;
  for (const { group, tried } of tryPlacements(rows, context, trips)) {
    const best = tried.reduce<Applied | null>((a, b) => (b.total > (a === null ? 0 : a.total) ? b : a), null);
    for (const one of tried) plan.scenarios.push({ ...one.scenario, chosen: one === best });
    if (best === null) continue;
    group.rows.forEach((row, i) => {
      plan.savedUs[row] = best.savedUs[i]!;
      plan.setupUs[row] = best.setupUs[i]!;
    });
    if (best.total > most) {
      most = best.total;
      plan.words = best.scenario.words;
    }
  }
  addBackbone(rows, plan);
  return plan;
}

type Tried = { group: Group; tried: Applied[] };

/** Each (client region, service region) of the rows with the moves worth a look, applied to its requests. */
function tryPlacements(rows: readonly SampledRequest[], context: LeverContext, trips: Trips): Tried[] {
  const declared = declaredModels(rows);
  const candidates = context.deployableRegions ?? cloudsSeen(rows);
  return groupsOf(rows, trips).map((group) => ({
    group,
    tried: bestMoves(rows, group, { candidates, declared, trips }).map((move) =>
      apply(rows, group, { ...move, trips }),
    ),
  }));
}

/** The requests of one (client region, service region), and what each move would save them (µs; negative: it costs). */
export type PlacementGroup = {
  clientRegion: string;
  serviceRegion: string;
  /** Indexes of its rows. */
  rows: readonly number[];
  moves: { scenario: PlacementScenario; savedUs: readonly number[] }[];
};

/** All moves that placement looks at, not only the best, request by request. */
export function placementGroups(
  rows: readonly SampledRequest[],
  context: LeverContext,
  trips: Trips,
): PlacementGroup[] {
  return tryPlacements(rows, context, trips).map(({ group, tried }) => ({
    ...{ clientRegion: group.client, serviceRegion: group.service, rows: group.rows },
    moves: tried.map(({ scenario, savedUs }) => ({ scenario, savedUs })),
  }));
}

/** Requests that no move touches may still cross between own regions for nothing. */
function addBackbone(rows: readonly SampledRequest[], plan: Placement): void {
  rows.forEach((row, i) => {
    const backbone = row.terms[BACKBONE] ?? null;
    if (plan.savedUs[i] !== 0 || backbone === null || backbone <= BACKBONE_FLOOR_US) return;
    plan.savedUs[i] = backbone - BACKBONE_FLOOR_US;
    plan.words ??= 'edge and service in one region';
  });
}

function groupsOf(rows: readonly SampledRequest[], trips: Trips): Group[] {
  const groups = new Map<string, Group>();
  const byDims = new Map<SampledRequest['dims'], Group>();
  rows.forEach((row, i) => {
    const { clientRegion: client, serviceRegion: service } = row.dims;
    if (client === null || service === null) return;
    let group = byDims.get(row.dims);
    if (group === undefined) {
      const key = JSON.stringify([client, service]);
      group = groups.get(key) ?? { client, service, rows: [], legs: [] };
      groups.set(key, group);
      byDims.set(row.dims, group);
    }
    group.rows.push(i);
    group.legs.push(legsOf(row));
  });
  return [...groups.values()].filter((group) => trips(group.client, group.service) !== null);
}

/** The sequential model calls of a request: where each goes, and whether that model could move along. */
function legsOf(row: SampledRequest): Leg[] {
  const calls =
    row.calls.length === 0 ? [] : callPath(row.calls).filter((call) => call.modelRegion !== null || isModelCall(call));
  if (calls.length === 0) {
    const { provider, model, modelRegion } = row.dims;
    const hasModel = (row.terms[MODEL] ?? null) !== null || (row.terms[HOP] ?? null) !== null || model !== null;
    return hasModel ? [leg(provider, model, modelRegion, row)] : [];
  }
  return calls.map((call) =>
    leg(
      call.provider ?? row.dims.provider,
      call.model ?? row.dims.model,
      call.modelRegion ?? row.dims.modelRegion,
      row,
    ),
  );
}

/** Own models whose place nobody told run beside the service; hosted ones stay unknown (null). */
function leg(...[provider, model, region, row]: [string | null, string | null, string | null, SampledRequest]): Leg {
  const isMovable = provider === null || SELF_HOSTED.test(provider);
  return { region: region ?? (isMovable ? row.dims.serviceRegion : null), isMovable, key: `${provider}\n${model}` };
}

/** "provider, model, region" of every model seen running somewhere. */
function declaredModels(rows: readonly SampledRequest[]): Set<string> {
  const declared = new Set<string>();
  for (const row of rows) {
    const { provider, model, modelRegion } = row.dims;
    if (modelRegion !== null) declared.add(`${provider}\n${model}\n${regionKey(modelRegion)}`);
    for (const call of row.calls)
      if (call.modelRegion !== null) declared.add(`${call.provider}\n${call.model}\n${regionKey(call.modelRegion)}`);
  }
  return declared;
}

function cloudsSeen(rows: readonly SampledRequest[]): string[] {
  const services = new Set(rows.map((row) => row.dims.serviceRegion));
  const clouds = new Set([...services].map((name) => parseRegion(name)?.provider ?? null));
  return [...clouds].flatMap((provider) => (provider === null ? [] : regionsOf(provider)));
}

/** The best move of the service alone and the best with its model, by the group's mean numbers of round trips. */
function bestMoves(
  rows: readonly SampledRequest[],
  group: Group,
  options: { candidates: readonly string[]; declared: Set<string>; trips: Trips },
): Move[] {
  const { trips } = options;
  const today = trips(group.client, group.service)!.ms;
  let taken = 0;
  const legCounts = new Map<string, { leg: Leg; weight: number }>();
  group.rows.forEach((at, i) => {
    const row = rows[at]!;
    const counted = tripsOf(row, today * 1000);
    taken += row.weight * (counted.request + counted.setup);
    for (const one of group.legs[i]!) {
      const key = `${one.key}\n${one.region}\n${one.isMovable}`;
      const entry = legCounts.get(key);
      if (entry === undefined) legCounts.set(key, { leg: one, weight: row.weight });
      else entry.weight += row.weight;
    }
  });
  const legs = [...legCounts.values()];
  const scored = options.candidates
    .filter((to) => regionKey(to) !== regionKey(group.service))
    .flatMap((toRegion) => {
      const there = trips(group.client, toRegion);
      if (there === null) return [];
      const saved = taken * (today - there.ms);
      const longer = legs.reduce(
        (sum, { leg: one, weight }) => sum + weight * longerMs(one, group.service, { toRegion, trips }),
        0,
      );
      const canMove =
        legs.length > 0 &&
        legs.every(({ leg: one }) => one.isMovable || options.declared.has(`${one.key}\n${regionKey(toRegion)}`));
      return [{ toRegion, alone: saved - longer, together: canMove ? saved : null, saved }];
    });
  const moves: Move[] = [];
  const top = (score: (one: (typeof scored)[number]) => number | null) =>
    scored.reduce<(typeof scored)[number] | null>((a, b) => {
      const s = score(b);
      return s !== null && (a === null || s > score(a)!) ? b : a;
    }, null);
  const together = top((one) => one.together);
  if (together !== null && together.saved > 0) moves.push({ toRegion: together.toRegion, withModel: true });
  const alone = top((one) => one.alone);
  if (alone !== null && alone.saved > 0) moves.push({ toRegion: alone.toRegion, withModel: false });
  // The nearest place, shown even where it loses: it is what one would try first.
  const nearest = top((one) => one.saved);
  if (nearest !== null && nearest.saved > 0 && !moves.some((m) => !m.withModel && m.toRegion === nearest.toRegion))
    moves.push({ toRegion: nearest.toRegion, withModel: false });
  return moves;
}

function longerMs(one: Leg, service: string, { toRegion, trips }: { toRegion: string; trips: Trips }): number {
  const now = trips(service, one.region);
  const then = trips(toRegion, one.region);
  return now === null || then === null ? 0 : then.ms - now.ms;
}

/** Round trips of a request between client and service, as far as the observed times can hold them. */
function tripsOf(row: SampledRequest, rttUs: number): { request: number; setup: number } {
  const network = row.terms[NETWORK] ?? null;
  const connection = row.terms[CONNECTION] ?? null;
  const fit = network === null || rttUs <= 0 ? 1 : Math.max(1, Math.round(network / rttUs));
  return {
    request: Math.min(Math.max(1, row.roundTrips ?? 1), fit),
    setup: connection === null || rttUs <= 0 ? 0 : Math.min(SETUP_ROUND_TRIPS, Math.round(connection / rttUs)),
  };
}

type Applied = { scenario: PlacementScenario; savedUs: number[]; setupUs: number[]; total: number };

function apply(rows: readonly SampledRequest[], group: Group, { trips, ...move }: Move & { trips: Trips }): Applied {
  const todayUs = trips(group.client, group.service)!.ms * 1000;
  const thereUs = trips(group.client, move.toRegion)!.ms * 1000;
  const longer = new Map<string | null, number>();
  let total = 0;
  let weight = 0;
  let isUnknown = false;
  const savedUs: number[] = [];
  const setupUs: number[] = [];
  group.rows.forEach((at, i) => {
    const row = rows[at]!;
    let costUs = 0;
    for (const one of group.legs[i]!) {
      if (one.region === null) isUnknown = true;
      if (move.withModel) continue;
      let us = longer.get(one.region);
      if (us === undefined) {
        us = longerMs(one, group.service, { toRegion: move.toRegion, trips }) * 1000;
        longer.set(one.region, us);
      }
      costUs += us;
    }
    const saved = savedOf(row, { todayUs, thereUs, costUs });
    savedUs.push(saved.net);
    setupUs.push(saved.setup);
    total += row.weight * saved.net;
    weight += row.weight;
  });
  const what = move.withModel ? 'service and model' : 'service';
  const unknown = isUnknown && !move.withModel ? ' (where its model runs is not told)' : '';
  const scenario: PlacementScenario = {
    ...{ clientRegion: group.client, serviceRegion: group.service, ...move },
    words: `${what} to ${move.toRegion}${unknown}`,
    meanSavedMs: total / weight / 1000,
    losing: total < 0,
    chosen: false,
  };
  return { scenario, savedUs, setupUs, total };
}

function savedOf(
  row: SampledRequest,
  trip: { todayUs: number; thereUs: number; costUs: number },
): { net: number; setup: number } {
  const network = row.terms[NETWORK] ?? null;
  const connection = row.terms[CONNECTION] ?? null;
  const backbone = row.terms[BACKBONE] ?? null;
  const trips = tripsOf(row, trip.todayUs);
  // What was seen may be faster than the table: then there is less to save.
  const seen = row.rttUs ?? (network === null ? null : network / trips.request);
  const deltaUs = (seen === null ? trip.todayUs : Math.min(trip.todayUs, seen)) - trip.thereUs;
  const observed = (us: number | null, part: number) => (us === null ? 0 : Math.min(us, part));
  const setup = observed(connection, trips.setup * deltaUs);
  const moved = observed(network, trips.request * deltaUs) + setup;
  const crossing = backbone === null ? 0 : Math.max(0, backbone - BACKBONE_FLOOR_US);
  const cap = (network ?? 0) + (connection ?? 0) + (backbone ?? 0);
  return { net: Math.round(Math.min(cap, moved + crossing - trip.costUs)), setup: Math.max(0, Math.round(setup)) };
}
