// The floors that act on some requests, resolved place by place, and how they are named beside a gain.

import { type FloorInfo, type LeverContext, MODEL_HOP_FLOOR_US, overrideFor, ROUTING_FLOOR_US } from './floors';
import { queueKindOf, type SampledRequest } from './request';
import { LEVERS, type Lever, MEASURED_TERMS, type Vantage } from './terms';

const QUEUE = MEASURED_TERMS.indexOf('queue');

/** The absolute floor (µs) of each lever at one place, null where none is set. */
export type ResolvedFloors = Record<Lever, number | null>;

export function resolveFloors(rows: readonly SampledRequest[], context: LeverContext) {
  const seen = new Map<string, ResolvedFloors>();
  // Rows of one place share their dimensions: most look-ups need no text
  const byDims = new Map<SampledRequest['dims'], ResolvedFloors>();
  const of = ({ dims }: SampledRequest): ResolvedFloors => {
    const known = byDims.get(dims);
    if (known !== undefined) return known;
    const { endpoint, clientRegion, serviceRegion } = dims;
    const key = JSON.stringify([endpoint, clientRegion, serviceRegion]);
    let floors = seen.get(key);
    if (floors === undefined) {
      floors = Object.fromEntries(
        LEVERS.map((lever) => {
          const override = overrideFor(context, lever, { endpoint, clientRegion, serviceRegion });
          return [lever, override === null ? null : Math.round(override.floorMs * 1000)];
        }),
      ) as ResolvedFloors;
      seen.set(key, floors);
    }
    byDims.set(dims, floors);
    return floors;
  };
  for (const row of rows) of(row);
  return { of, seen };
}

export type QueueFloors = { of: (row: SampledRequest) => number; info: FloorInfo };

/** The queue's floor of a request (µs): as pinned for its cell, else the p10 of the requests in view. */
export function queueFloorsOf(rows: readonly SampledRequest[], context: LeverContext): QueueFloors {
  const pinned = context.queueP10;
  const inView = lowestDecile(rows);
  const cells = new Map<SampledRequest['dims'], number | null>();
  const pinnedOf = ({ dims }: SampledRequest): number | null => {
    let us = cells.get(dims);
    if (us === undefined) {
      us = pinned?.floorsUs.get(cellName(dims)) ?? null;
      cells.set(dims, us);
    }
    return us;
  };
  const values = new Set<number | null>();
  for (const row of rows) if ((row.terms[QUEUE] ?? null) !== null) values.add(pinnedOf(row));
  const [only = null] = values;
  const fromView = {
    kind: 'relative',
    ms: inView / 1000,
    source: "the queue's own p10 of the requests in view",
  } as const;
  const fromPin = { kind: 'relative', source: `the queue's own p10 of the 7 days before ${pinned?.day}` } as const;
  const isPinned = values.size > 0 && !values.has(null);
  const info = isPinned ? { ...fromPin, ...(values.size === 1 ? { ms: only! / 1000 } : {}) } : fromView;
  return { of: (row) => pinnedOf(row) ?? inView, info };
}

/** Names a cell in the pinned floors. */
export const cellName = (cell: { vantage: Vantage; endpoint: string; clientRegion: string | null }): string =>
  JSON.stringify([cell.vantage, cell.endpoint, cell.clientRegion]);

/** The p10 (µs) of the queue among these requests: what it takes when nothing waits. */
export function lowestDecile(rows: readonly SampledRequest[]): number {
  const at: number[] = [];
  let total = 0;
  rows.forEach((row, i) => {
    if ((row.terms[QUEUE] ?? null) === null || queueKindOf(row) === 'scheduled') return;
    at.push(i);
    total += row.weight;
  });
  const us = (i: number) => rows[i]!.terms[QUEUE] ?? 0;
  at.sort((a, b) => us(a) - us(b));
  const target = 0.1 * total - 1e-9;
  let seen = 0;
  for (const i of at) {
    seen += rows[i]!.weight;
    if (seen >= target) return us(i);
  }
  return 0;
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

/** The floor behind each lever, with its kind and where it is from. Without requests: what is set for any. */
export function floorInfos(
  seen: ReadonlyMap<string, ResolvedFloors>,
  context: LeverContext,
  queueFloors: QueueFloors,
): Record<Lever, FloorInfo> {
  const set = setFloors(seen, context);
  const info = (lever: Lever): FloorInfo => {
    const values = set(lever);
    const known = [...values].filter((us) => us !== null);
    if (known.length > 0) {
      const isTarget = lever === 'model' || lever === 'application';
      const source = values.size === 1 ? `set in the project, version ${context.version}` : 'set for some places';
      return { kind: isTarget ? 'target' : 'override', source, ...(values.size === 1 ? { ms: known[0]! / 1000 } : {}) };
    }
    const staged = context.overrides.filter((o) => o.lever === lever && o.stage !== undefined).map((o) => o.stage);
    if (staged.length > 0)
      return {
        kind: DEFAULT_FLOORS[lever].kind === 'none' ? 'target' : 'override',
        source: `set for the stages ${[...new Set(staged)].join(', ')}`,
      };
    if (lever === 'queue') return seen.size === 0 ? DEFAULT_FLOORS.queue : queueFloors.info;
    if (lever === 'modelHop' && (context.baselines ?? []).length > 0)
      return { kind: 'baseline', source: 'the baseline of each call that has one, else 2 ms a call' };
    if (lever === 'geography') return { kind: 'relative', source: geographySource(context) };
    return DEFAULT_FLOORS[lever];
  };
  return Object.fromEntries(LEVERS.map((lever) => [lever, info(lever)])) as Record<Lever, FloorInfo>;
}

function geographySource({ deployableRegions, probedMs }: LeverContext): string {
  const best =
    deployableRegions === null
      ? DEFAULT_FLOORS.geography.source
      : `best of the ${deployableRegions.length} deployable regions`;
  return (probedMs?.size ?? 0) === 0 ? best : `${best}, those seen by own probes first`;
}

/** The absolute floors (µs) of a lever over the places in view; without any, over all that is set. */
function setFloors(seen: ReadonlyMap<string, ResolvedFloors>, { overrides }: LeverContext) {
  return (lever: Lever): ReadonlySet<number | null> => {
    if (seen.size > 0) return new Set([...seen.values()].map((floors) => floors[lever]));
    const own = overrides.filter((o) => o.lever === lever && o.stage === undefined);
    const isScoped = (o: (typeof own)[number]) =>
      o.endpoint !== undefined || o.clientRegion !== undefined || o.serviceRegion !== undefined;
    const everywhere = own.findLast((o) => !isScoped(o));
    const places = own.filter(isScoped).map((o) => Math.round(o.floorMs * 1000));
    return new Set([...places, everywhere === undefined ? null : Math.round(everywhere.floorMs * 1000)]);
  };
}
