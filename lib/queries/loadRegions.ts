import type { EndpointClass } from '../core/endpointClass';
import type { Quantiles } from '../core/estimate';
import type { LeverContext } from '../core/levers';
import { type ClientPlacement, placementGains, type RoundTrip } from '../core/placementGains';
import { toQuantiles } from '../core/quantile';
import { createTrips, placeOf, type Trips } from '../core/regions';
import { type Basis, TERMS, type Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { loadAllSeries } from '../db/series';
import { type Member, type Snapshot, withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
import { poolTerms } from './breakdownTerms';
import { loadLeverContext } from './loadLeverContext';
import { basisOf, chooseVantage, classify, countOf, durationOf, isTimed, readPopulation } from './population';
import { readSampled, seedOf } from './sampled';
import type { Metric, Scope } from './scope';

export type RegionPair = {
  clientRegion: string | null;
  serviceRegion: string | null;
  n: number;
  wait: Quantiles;
  /** The geography term, set-up apart. */
  network: Quantiles;
  /** Between them; null when a place is not known. */
  roundTrip: RoundTrip | null;
};

/** Degrees. */
export type RegionPlace = { name: string; latitude: number; longitude: number };

export type Regions = AnswerRange & {
  vantage: Vantage | null;
  metric: Metric;
  /**
   * Endpoints are never pooled: the one asked for, else of those that ever told both regions the one with the most
   * requests. Null without requests.
   */
  endpoint: string | null;
  endpointClass: EndpointClass | null;
  /** The others of the scope, in that order. */
  otherEndpoints: { endpoint: string; n: number }[];
  /** Most requests first; `morePairs` are not listed. */
  pairs: RegionPair[];
  morePairs: number;
  places: RegionPlace[];
  /** Each client region with the ways to serve it from elsewhere; `gainsFrom` and `gainsTo` are its range. */
  placements: ClientPlacement[];
  gainsFrom: string;
  gainsTo: string;
};

const PAIRS_SHOWN = 120;
const NETWORK = TERMS.indexOf('network');

type Question = {
  viewer: Viewer;
  scope: Scope;
  snapshot: Snapshot;
  vantage: Vantage | null;
  range: { fromUs: number; toUs: number; finest: 'hour' };
};

/** Who is far away, and what would moving gain? */
export async function loadRegions({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Regions> {
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, range);
    const base: Question = { viewer, scope: input, snapshot, vantage, range };
    const [largest, ...others] = await endpointsOf(base);
    const endpoint = largest?.endpoint ?? null;
    const endpoints = endpoint === null ? [] : [endpoint];
    const endpointClass = (await classify(snapshot, { endpoints, stored, vantage, range })).get(endpoint ?? '') ?? null;
    const common = {
      ...rangeOf(snapshot, snapshot.effective(range), input.timeZone),
      ...{ vantage, metric: input.metric, endpoint, endpointClass, otherEndpoints: others },
    };
    if (endpoint === null || endpointClass === null) {
      const { effectiveFrom: gainsFrom, effectiveTo: gainsTo } = common;
      return { ...common, ...{ pairs: [], morePairs: 0, places: [], placements: [], gainsFrom, gainsTo } };
    }
    const question = { ...base, scope: { ...input, endpoint: [endpoint] } };
    const basis = basisOf(input.metric, endpointClass);
    const context = await loadLeverContext({ viewer });
    const pairs = await pairsOf(question, { basis, trips: createTrips(context.probedMs) });
    const names = new Set(pairs.flatMap(({ clientRegion, serviceRegion }) => [clientRegion, serviceRegion]));
    return {
      ...common,
      ...{ pairs: pairs.slice(0, PAIRS_SHOWN), morePairs: Math.max(0, pairs.length - PAIRS_SHOWN) },
      places: placesOf(names),
      ...(await placementsOf(question, {
        basis,
        context,
        clientRegions: new Set(pairs.map((pair) => pair.clientRegion)),
      })),
    };
  });
}

async function endpointsOf({
  viewer,
  scope,
  snapshot,
  vantage,
  range,
}: Question): Promise<{ endpoint: string; n: number }[]> {
  const { members } = await readPopulation(snapshot, {
    ...{ scope, vantage, range, dimensions: ['endpoint'], families: ['counts'] },
  });
  const byEndpoint = new Map<string, Member[]>();
  for (const member of members.filter(isTimed)) {
    const { endpoint = null } = member.key;
    if (endpoint !== null) byEndpoint.set(endpoint, [...(byEndpoint.get(endpoint) ?? []), member]);
  }
  const series = await loadAllSeries(viewer.projectId);
  const placed = new Set(
    series.filter((dims) => dims.clientRegion !== null && dims.serviceRegion !== null).map((dims) => dims.endpoint),
  );
  const rank = (endpoint: string) => (placed.has(endpoint) ? 1 : 0);
  return [...byEndpoint]
    .map(([endpoint, some]) => ({ endpoint, n: countOf(some, 'n') }))
    .sort((a, b) => rank(b.endpoint) - rank(a.endpoint) || b.n - a.n || (a.endpoint < b.endpoint ? -1 : 1));
}

async function pairsOf(
  { scope, snapshot, vantage, range }: Question,
  { basis, trips }: { basis: Basis; trips: Trips },
): Promise<RegionPair[]> {
  const { members } = await readPopulation(snapshot, {
    ...{ scope, vantage, range, dimensions: ['endpoint', 'clientRegion', 'serviceRegion'] },
    families: ['terms', 'counts', basis],
  });
  const byPair = new Map<string, Member[]>();
  for (const member of members.filter(isTimed)) {
    const pair = JSON.stringify([member.key.clientRegion, member.key.serviceRegion]);
    byPair.set(pair, [...(byPair.get(pair) ?? []), member]);
  }
  const pairs = [...byPair.values()].map((some): RegionPair => {
    const { clientRegion = null, serviceRegion = null } = some[0]!.key;
    return {
      ...{ clientRegion, serviceRegion, n: countOf(some, 'n') },
      wait: toQuantiles(durationOf(some, 'wait', () => basis)),
      network: toQuantiles(poolTerms(some).histograms[NETWORK]!),
      roundTrip: trips(clientRegion, serviceRegion),
    };
  });
  return pairs.sort((a, b) => b.n - a.n);
}

function placesOf(names: Iterable<string | null>): RegionPlace[] {
  return [...names].flatMap((name) => {
    const place = placeOf(name);
    return name === null || place === null ? [] : [{ name, latitude: place[0], longitude: place[1] }];
  });
}

async function placementsOf(
  question: Question,
  { basis, context, clientRegions }: { basis: Basis; context: LeverContext; clientRegions: ReadonlySet<string | null> },
): Promise<Pick<Regions, 'placements' | 'gainsFrom' | 'gainsTo'>> {
  const { viewer, scope, snapshot, vantage } = question;
  const leading = scope.endpoint.map((endpoint) => ({ endpoint }));
  const { sampledOf, effectiveFromUs, effectiveToUs } = await readSampled(snapshot, {
    ...{ scope, vantage, basis, leading, many: true, groupOf: (key) => key.clientRegion ?? null },
  });
  const seed = seedOf({ viewer, scope }, [vantage, basis, effectiveFromUs, effectiveToUs, context.version, 'regions']);
  // together, because where a model runs is learnt from all of them
  const rows = [...clientRegions].flatMap((clientRegion) => sampledOf(clientRegion).rows);
  const placements = placementGains({ rows, basis, context, seed });
  return {
    placements: placements.filter((one) => one.scenarios.length > 0).sort((a, b) => b.n - a.n),
    gainsFrom: formatInstant(effectiveFromUs / 1000, scope.timeZone),
    gainsTo: formatInstant(effectiveToUs / 1000, scope.timeZone),
  };
}
