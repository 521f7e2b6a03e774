// Which cells a question is about: filters, vantage, endpoint classes, and the populations inside them.

import type { Calendar } from '../core/calendar';
import {
  type CellKey,
  DIMENSIONS_OF,
  type Family,
  GROUPINGS,
  type Grouping,
  type KeyDimension,
  parseKey,
} from '../core/cell';
import { BASIS_OF, type EndpointClass, guessEndpointClass } from '../core/endpointClass';
import { type Basis, VANTAGES, type Vantage } from '../core/terms';
import { type CellAnswer, type CellSet, cellOf } from '../db/readCells';
import type { AnswerRange } from './answer';
import type { Metric, Scope } from './scope';

/** One cell of a population, its key parsed. */
export type Member = { key: CellKey; set: CellSet };

const FILTERS = ['endpoint', 'clientRegion', 'serviceRegion', 'provider', 'model', 'version'] as const;

/** Dimensions that a scope filters by. */
export function filteredDimensions(scope: Scope): KeyDimension[] {
  return FILTERS.filter((dimension) => scope[dimension].length > 0);
}

/** The smallest grouping that knows all of these dimensions. */
export function chooseGrouping(dimensions: readonly KeyDimension[]): Grouping {
  const knows = (grouping: Grouping) => dimensions.every((d) => DIMENSIONS_OF[grouping].includes(d));
  return GROUPINGS.find(knows) ?? 'full';
}

function accepts(scope: Scope, key: CellKey): boolean {
  const inList = (list: readonly string[], value: string | null | undefined) =>
    list.length === 0 || (typeof value === 'string' && list.includes(value));
  return (
    FILTERS.every((dimension) => inList(scope[dimension], key[dimension])) &&
    inList(scope.environment, key.environment) &&
    (scope.outcome.length === 0 || scope.outcome.includes(key.outcome))
  );
}

export type Population = { members: Member[]; cachedN: number; vantage: Vantage | null };

/** The cells of a scope: one vantage, response-cache hits apart. Errors are members; they hold counts only. */
export function selectMembers(sets: ReadonlyMap<string, CellSet> | undefined, scope: Scope): Population {
  const all = [...(sets ?? [])]
    .map(([text, set]) => ({ key: parseKey(text), set }))
    .filter((m) => accepts(scope, m.key));
  const vantage = scope.vantage ?? VANTAGES.find((v) => all.some((m) => m.key.vantage === v)) ?? null;
  const seen = all.filter((m) => m.key.vantage === vantage);
  const cachedN = seen.filter((m) => m.key.cached).reduce((sum, m) => sum + cellOf(m.set, 'duration').counts[0]!, 0);
  return { members: seen.filter((m) => !m.key.cached), cachedN, vantage };
}

/** The class of every endpoint: as stored, else guessed from its ok requests here. */
export function classify(
  members: readonly Member[],
  stored: ReadonlyMap<string, EndpointClass>,
): Map<string, EndpointClass> {
  const counts = new Map<string, { ok: number; withTtft: number }>();
  for (const { key, set } of members) {
    const count = counts.get(key.endpoint!) ?? { ok: 0, withTtft: 0 };
    counts.set(key.endpoint!, count);
    if (key.outcome !== 'ok') continue;
    const [n, , withTtft] = cellOf(set, 'duration').counts;
    count.ok += n!;
    count.withTtft += withTtft!;
  }
  return new Map(
    [...counts].map(([endpoint, count]) => [endpoint, stored.get(endpoint) ?? guessEndpointClass(count, null)]),
  );
}

/** Which duration the wait of an endpoint is, under the metric asked for. */
export function basisOf(metric: Metric, endpointClass: EndpointClass): Basis {
  return metric === 'wait' ? BASIS_OF[endpointClass] : metric;
}

export function rangeOf(answer: CellAnswer & { calendar: Calendar }): AnswerRange {
  return {
    effectiveFrom: new Date(answer.effectiveFromUs / 1000).toISOString(),
    effectiveTo: new Date(answer.effectiveToUs / 1000).toISOString(),
    asOf: answer.asOf.toISOString(),
    timeZone: answer.calendar.zone,
  };
}

export const ANALYSIS_FAMILIES: readonly Family[] = [
  'duration',
  'terms',
  'anatomyE2e',
  'anatomyTtft',
  'sampleE2e',
  'sampleTtft',
];
