// Which cells a question is about: grouping, vantage, filters, endpoint classes, and the populations inside them.

import {
  type CellKey,
  COUNTS,
  type Count,
  DIMENSIONS_OF,
  type Duration,
  type Family,
  GROUPINGS,
  type Grouping,
  isStored,
  type KeyDimension,
  type Tier,
} from '../core/cell';
import { BASIS_OF, type EndpointClass, guessEndpointClass } from '../core/endpointClass';
import { createHistogram, type Histogram, mergeHistogram } from '../core/histogram';
import { type Basis, VANTAGES, type Vantage } from '../core/terms';
import { type CellQuestion, cellOf, type Member, type Snapshot } from '../db/snapshot';
import type { Metric, Scope } from './scope';

export type { Member } from '../db/snapshot';

const FILTERS = ['endpoint', 'clientRegion', 'serviceRegion', 'provider', 'model', 'version'] as const;

/** Dimensions that a scope filters by. */
export function filteredDimensions(scope: Scope): KeyDimension[] {
  return FILTERS.filter((dimension) => scope[dimension].length > 0);
}

/** The smallest grouping that knows these dimensions and keeps the family at the tier; null when there is none. */
export function chooseGrouping(dimensions: readonly KeyDimension[], family: Family, tier: Tier): Grouping | null {
  const knows = (grouping: Grouping) => dimensions.every((d) => DIMENSIONS_OF[grouping].includes(d));
  return GROUPINGS.find((grouping) => knows(grouping) && isStored(grouping, tier, family)) ?? null;
}

/** What the scope's filters say of a key; dimensions that its grouping drops are not asked about. */
export function accepts(scope: Scope, key: CellKey): boolean {
  const inList = (list: readonly string[], value: string | null | undefined) =>
    list.length === 0 || value === undefined || (value !== null && list.includes(value));
  return (
    FILTERS.every((dimension) => inList(scope[dimension], key[dimension])) &&
    inList(scope.environment, key.environment) &&
    (scope.outcome.length === 0 || scope.outcome.includes(key.outcome))
  );
}

/** The cells that filters by endpoint and client region leave, for groupings that lead with them. */
export function leadingOf(scope: Scope, grouping: Grouping): Pick<CellQuestion, 'leading'> {
  const [first, second] = DIMENSIONS_OF[grouping];
  if (first !== 'endpoint' || scope.endpoint.length === 0) return {};
  if (second !== 'clientRegion' || scope.clientRegion.length === 0)
    return { leading: scope.endpoint.map((endpoint) => ({ endpoint })) };
  return {
    leading: scope.endpoint.flatMap((endpoint) =>
      scope.clientRegion.map((clientRegion) => ({ endpoint, clientRegion })),
    ),
  };
}

type Range = Pick<CellQuestion, 'fromUs' | 'toUs' | 'finest' | 'coarsest'>;

/** The vantage asked for, else the first of client, service, probe that the project has in the range. Never pooled. */
export async function chooseVantage(snapshot: Snapshot, scope: Scope, range: Range): Promise<Vantage | null> {
  if (scope.vantage !== null) return scope.vantage;
  const { periods } = await snapshot.read({ ...range, grouping: 'all', families: ['counts'] });
  const seen = new Set((periods.get(0) ?? []).map((member) => member.key.vantage));
  return VANTAGES.find((vantage) => seen.has(vantage)) ?? null;
}

/** Members of one vantage apart from response-cache hits, which are a population of their own. */
export type Population = { members: Member[]; cachedN: number };

export function populationOf(all: readonly Member[]): Population {
  const cached = all.filter((member) => member.key.cached);
  return { members: all.filter((member) => !member.key.cached), cachedN: countOf(cached, 'n') };
}

/** Reads the cells of a scope in the smallest grouping that knows its filters and `dimensions`. */
export async function readPopulation(
  snapshot: Snapshot,
  question: {
    scope: Scope;
    vantage: Vantage | null;
    range: Range;
    dimensions: readonly KeyDimension[];
    families: readonly Family[];
    leading?: CellQuestion['leading'];
  },
): Promise<Population> {
  const { scope, vantage, range, families } = question;
  const dimensions = [...question.dimensions, ...filteredDimensions(scope)];
  const grouping = chooseGrouping(dimensions, families[0]!, range.finest) ?? 'full';
  const answer = await snapshot.read({
    ...{ ...range, grouping, families, ...leadingOf(scope, grouping) },
    ...(question.leading ? { leading: question.leading } : {}),
    keep: (key) => key.vantage === vantage && accepts(scope, key),
  });
  return populationOf(answer.periods.get(0) ?? []);
}

/**
 * The class of every endpoint: as stored, else guessed from all its ok requests in the range, whatever the filters, so
 * that a filter never changes what the wait is.
 */
export async function classify(
  snapshot: Snapshot,
  question: {
    endpoints: Iterable<string>;
    stored: ReadonlyMap<string, EndpointClass>;
    vantage: Vantage | null;
    range: Range;
  },
): Promise<Map<string, EndpointClass>> {
  const { stored, vantage, range } = question;
  const endpoints = new Set(question.endpoints);
  const unknown = [...endpoints].filter((endpoint) => !stored.has(endpoint));
  const guesses =
    unknown.length === 0
      ? new Map<string, EndpointClass>()
      : guessesOf(
          await snapshot.read({
            ...{ ...range, grouping: 'endpoint', families: ['counts'] },
            ...{ leading: unknown.map((endpoint) => ({ endpoint })), keep: (key) => key.vantage === vantage },
          }),
        );
  const classOf = (endpoint: string) => stored.get(endpoint) ?? guesses.get(endpoint) ?? 'interactive';
  return new Map([...endpoints].map((endpoint) => [endpoint, classOf(endpoint)]));
}

function guessesOf({ periods }: { periods: ReadonlyMap<number, Member[]> }): Map<string, EndpointClass> {
  const counts = new Map<string, { ok: number; withTtft: number }>();
  for (const { key, set } of [...periods.values()].flat()) {
    if (key.outcome !== 'ok' || key.cached) continue;
    const count = counts.get(key.endpoint!) ?? { ok: 0, withTtft: 0 };
    counts.set(key.endpoint!, count);
    const cell = cellOf(set, 'counts').counts;
    count.ok += cell[COUNTS.indexOf('n')]!;
    count.withTtft += cell[COUNTS.indexOf('withTtft')]!;
  }
  return new Map([...counts].map(([endpoint, count]) => [endpoint, guessEndpointClass(count, null)]));
}

/** Which duration the wait of an endpoint is, under the metric asked for. */
export function basisOf(metric: Metric, endpointClass: EndpointClass): Basis {
  return metric === 'wait' ? BASIS_OF[endpointClass] : metric;
}

export type BasisOfEndpoint = (endpoint: string) => Basis;

/** Sums one count over members. */
export function countOf(members: readonly Member[], count: Count): number {
  const index = COUNTS.indexOf(count);
  return members.reduce((sum, member) => sum + cellOf(member.set, 'counts').counts[index]!, 0);
}

/** Merges one duration of several members; wait and gap follow each endpoint's basis. */
export function durationOf(
  members: readonly Member[],
  duration: Duration | 'wait' | 'gap',
  basisOfEndpoint: BasisOfEndpoint,
): Histogram {
  const merged = createHistogram();
  for (const { key, set } of members) {
    const family = familyOf(duration, () => basisOfEndpoint(key.endpoint!));
    const cell = set.get(family);
    if (cell !== undefined && 'histogram' in cell) mergeHistogram(merged, cell.histogram);
  }
  return merged;
}

function familyOf(duration: Duration | 'wait' | 'gap', basis: () => Basis): Duration {
  if (duration === 'wait') return basis();
  if (duration === 'gap') return basis() === 'e2e' ? 'gapE2e' : 'gapTtft';
  return duration;
}

/** Errors hold counts only: they have no wait. */
export const isTimed = (member: Member): boolean => member.key.outcome !== 'error';
