// Levers: what one can do about latency. Each maps a request to the time it would have saved; floors act here, at read
// time, so no stored number depends on one.

import type { Call, SampledRequest } from './request';
import { LEVERS, type Lever, MEASURED_TERMS, type MeasuredTerm } from './terms';

/** An absolute floor (ms) for a lever's own term; the override that names most dimensions wins. */
export type FloorOverride = {
  lever: Lever;
  endpoint?: string;
  clientRegion?: string;
  serviceRegion?: string;
  stage?: string;
  floorMs: number;
};

/** What a call takes where the hop is not in the way ("the same workload locally takes 100 ms"): evidence assumed. */
export type Baseline = {
  provider: string;
  model: string;
  modelRegion?: string;
  stage?: string;
  baselineMs: number;
  note: string;
};

/** What the floors of a project are at one instant. `version` names it in seeds and answers. */
export type LeverContext = {
  overrides: readonly FloorOverride[];
  baselines?: readonly Baseline[];
  deployableRegions: readonly string[] | null;
  version: string;
  /** Round trip (µs) between two regions, null when nobody knows it. */
  roundTripUs?: (from: string, to: string) => number | null;
};

/** The floor behind a lever's gain, named beside it. `ms` is absent when it differs from request to request. */
export type FloorInfo = {
  kind: 'override' | 'default' | 'baseline' | 'relative' | 'target' | 'none';
  ms?: number;
  source: string;
};

const ROUTING_FLOOR_US = 5_000;
const HOP_FLOOR_US = 2_000;
const OWN_TERM: Record<Lever, MeasuredTerm> = {
  geography: 'network',
  connection: 'connection',
  queue: 'queue',
  routing: 'routing',
  coldStart: 'coldStart',
  retry: 'retry',
  modelHop: 'modelHop',
  model: 'model',
  application: 'application',
};

const TERM_OF = Object.fromEntries(LEVERS.map((lever) => [lever, MEASURED_TERMS.indexOf(OWN_TERM[lever])])) as Record<
  Lever,
  number
>;

const SELECTORS = ['endpoint', 'clientRegion', 'serviceRegion'] as const;

/** The override that holds for a request: of those that match, the one that names most dimensions, the last of equals. */
export function overrideFor(
  dims: Pick<SampledRequest['dims'], (typeof SELECTORS)[number]>,
  lever: Lever,
  overrides: readonly FloorOverride[],
): FloorOverride | null {
  let best: FloorOverride | null = null;
  let bestNamed = -1;
  for (const override of overrides) {
    if (override.lever !== lever || override.stage !== undefined) continue;
    if (!SELECTORS.every((s) => override[s] === undefined || override[s] === dims[s])) continue;
    const named = SELECTORS.filter((s) => override[s] !== undefined).length;
    if (named >= bestNamed) {
      best = override;
      bestNamed = named;
    }
  }
  return best;
}

/** Avoidable by default (µs) of a lever's own term. */
function avoidableUs(
  request: SampledRequest,
  us: number,
  at: { lever: Lever; context: LeverContext; queueP10Us: number },
): number {
  switch (at.lever) {
    case 'geography':
      return Math.min(us, placementUs(request, at.context));
    case 'connection':
      return request.connection === 'first' ? Math.max(0, us - (request.rttUs ?? us)) : us;
    case 'queue':
      return Math.max(0, us - at.queueP10Us);
    case 'routing':
      return Math.max(0, us - ROUTING_FLOOR_US);
    case 'modelHop':
      return Math.max(0, us - HOP_FLOOR_US * Math.max(1, request.calls.length));
    case 'coldStart':
    case 'retry':
      return us;
    default:
      return 0;
  }
}

/** Round trips × (this placement's round trip − the best deployable region's), µs: relative, so a last mile cancels out. */
function placementUs(request: SampledRequest, context: LeverContext): number {
  const { clientRegion, serviceRegion } = request.dims;
  const { roundTripUs, deployableRegions } = context;
  if (!roundTripUs || clientRegion === null || serviceRegion === null) return 0;
  const now = roundTripUs(clientRegion, serviceRegion);
  if (now === null) return 0;
  let best = now;
  for (const region of deployableRegions ?? []) {
    const there = roundTripUs(clientRegion, region);
    if (there !== null && there < best) best = there;
  }
  return (request.roundTrips ?? 1) * (now - best);
}

type Called = Pick<Call, 'provider' | 'model' | 'modelRegion'> & { stage: string | null };

/** The most specific baseline (µs) of a call, the last of equals; null when none fits. */
function baselineUs(call: Called, baselines: readonly Baseline[]): number | null {
  let best: Baseline | null = null;
  let bestNamed = -1;
  for (const baseline of baselines) {
    if (baseline.provider !== call.provider || baseline.model !== call.model) continue;
    const optional = (['modelRegion', 'stage'] as const).filter((field) => baseline[field] !== undefined);
    if (optional.some((field) => baseline[field] !== call[field]) || optional.length < bestNamed) continue;
    best = baseline;
    bestNamed = optional.length;
  }
  return best === null ? null : Math.round(best.baselineMs * 1000);
}

/**
 * Saved (µs) when every call that has a baseline takes only that long; null when none has one. It may reach into the
 * model's own time, but not where that has a target of its own: nothing is counted twice.
 */
function baselineSavedUs(request: SampledRequest, context: LeverContext): number | null {
  const baselines = context.baselines ?? [];
  if (baselines.length === 0) return null;
  const hop = request.terms[TERM_OF.modelHop] ?? null;
  const hasTarget = overrideFor(request.dims, 'model', context.overrides) !== null;
  const model = hasTarget ? null : (request.terms[TERM_OF.model] ?? null);
  if (hop === null && model === null) return null;
  const reach = (hop === null ? 0 : hop) + (model === null ? 0 : model);
  if (request.calls.length === 0) {
    const floor = baselineUs({ ...request.dims, stage: null }, baselines);
    return floor === null ? null : Math.max(0, reach - floor);
  }
  const { provider, model: modelName, modelRegion } = request.dims;
  let saved: number | null = null;
  let others = 0;
  for (const call of request.calls) {
    const told = { provider: call.provider ?? provider, model: call.model ?? modelName };
    const floor = baselineUs({ ...call, ...told, modelRegion: call.modelRegion ?? modelRegion }, baselines);
    if (floor !== null) saved = (saved === null ? 0 : saved) + Math.max(0, call.durationUs - floor);
    else if (call.hopUs !== null) others += Math.max(0, call.hopUs - HOP_FLOOR_US);
  }
  return saved === null ? null : Math.min(reach, saved + others);
}

/**
 * The time (µs) that a lever at its floor would have saved this request; null when its term was not measured.
 * `queueP10Us` is the queue's own tenth percentile, its floor by default.
 */
export function savedUs(
  request: SampledRequest,
  lever: Lever,
  { context, queueP10Us }: { context: LeverContext; queueP10Us: number },
): number | null {
  const us = request.terms[TERM_OF[lever]] ?? null;
  const override = overrideFor(request.dims, lever, context.overrides);
  if (lever === 'modelHop' && override === null) {
    const saved = baselineSavedUs(request, context);
    if (saved !== null) return saved;
  }
  if (us === null) return null;
  if (override !== null) return Math.max(0, us - Math.round(override.floorMs * 1000));
  return avoidableUs(request, us, { lever, context, queueP10Us });
}

const DEFAULT_SOURCES: Record<Lever, FloorInfo> = {
  geography: { kind: 'relative', source: 'round trip to the best region you can deploy to' },
  connection: { kind: 'default', ms: 0, source: 'a connection kept warm; one round trip for a first visit' },
  queue: { kind: 'relative', source: 'the tenth percentile of this queue' },
  routing: { kind: 'default', ms: ROUTING_FLOOR_US / 1000, source: 'what one internal hop takes' },
  coldStart: { kind: 'default', ms: 0, source: 'a warm replica' },
  retry: { kind: 'default', ms: 0, source: 'the first attempt succeeds' },
  modelHop: { kind: 'default', ms: HOP_FLOOR_US / 1000, source: 'a call to a model next door, each' },
  model: { kind: 'none', source: 'no target set' },
  application: { kind: 'none', source: 'no target set' },
};

/** The floors to name beside the gains of these requests. */
export function floorsOf(
  rows: readonly SampledRequest[],
  context: LeverContext,
  queueP10Us: number,
): Record<Lever, FloorInfo> {
  return Object.fromEntries(
    LEVERS.map((lever): [Lever, FloorInfo] => {
      const matched = new Set(rows.map((row) => overrideFor(row.dims, lever, context.overrides)));
      const [override = null] = matched;
      if (override !== null) {
        const floor: FloorInfo = { kind: 'override', source: `your floor, version ${context.version}` };
        return [lever, matched.size === 1 ? { ...floor, ms: override.floorMs } : floor];
      }
      if (lever === 'modelHop' && rows.some((row) => baselineSavedUs(row, context) !== null)) {
        return [lever, { kind: 'baseline', source: `your baselines, version ${context.version}` }];
      }
      if (lever === 'queue') return [lever, { ...DEFAULT_SOURCES.queue, ms: queueP10Us / 1000 }];
      return [lever, DEFAULT_SOURCES[lever]];
    }),
  ) as Record<Lever, FloorInfo>;
}

/** The queue's tenth percentile (µs) over requests that queued at all or not; 0 when none was measured. */
export function queueFloorUs(rows: readonly SampledRequest[]): number {
  const waits = rows.map((row) => row.terms[TERM_OF.queue] ?? null).filter((us): us is number => us !== null);
  waits.sort((a, b) => a - b);
  return waits.length === 0 ? 0 : waits[Math.ceil(0.1 * waits.length) - 1]!;
}
