// The cells of a scope: one client region × endpoint each. Counts of all of them choose which are read whole.

import { type Anatomy, type AnatomyPoint, addToAnatomy, anatomyPoints, mergeAnatomy } from '../core/anatomy';
import type { Duration, Family } from '../core/cell';
import type { EndpointClass } from '../core/endpointClass';
import type { Quantiles } from '../core/estimate';
import { toQuantiles } from '../core/quantile';
import type { SampledRequest } from '../core/request';
import type { Basis, Vantage } from '../core/terms';
import { cellOf, type Member, type Snapshot } from '../db/snapshot';
import { basisOf, countOf, durationOf, isTimed, readPopulation } from './population';
import { filtersRows, readSampled } from './sampled';
import type { Scope } from './scope';

/** One client region × endpoint of the scope. */
export type BreakdownCell = {
  endpoint: string;
  clientRegion: string | null;
  endpointClass: EndpointClass;
  n: number;
  wait: Quantiles;
  e2e: Quantiles;
  model: Quantiles;
  gap: Quantiles;
  /** The windows of the anatomy around p50 and p99; null without data. */
  anatomyP50: AnatomyPoint | null;
  anatomyP99: AnatomyPoint | null;
};

/** A pair with the counts of its cells. */
export type Pair = { endpoint: string; clientRegion: string | null; members: Member[] };

export const pairName = (pair: { endpoint?: string | null; clientRegion?: string | null }): string =>
  JSON.stringify([pair.endpoint, pair.clientRegion ?? null]);

/** Members by client region × endpoint. */
export function pairsOf(members: readonly Member[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const member of members) {
    const { endpoint, clientRegion } = member.key;
    const name = pairName(member.key);
    const pair = pairs.get(name) ?? { endpoint: endpoint!, clientRegion: clientRegion ?? null, members: [] };
    pairs.set(name, pair);
    pair.members.push(member);
  }
  return [...pairs.values()];
}

type CellsQuestion = {
  scope: Scope;
  vantage: Vantage | null;
  range: { fromUs: number; toUs: number; finest: 'hour' };
  pairs: readonly Pair[];
  classes: ReadonlyMap<string, EndpointClass>;
};

const FAMILIES_READ: readonly Family[] = ['e2e', 'ttft', 'model', 'gapE2e', 'gapTtft', 'anatomyE2e', 'anatomyTtft'];

/** Durations and anatomy windows of the given pairs, in their order. */
export async function readCells(
  snapshot: Snapshot,
  question: CellsQuestion,
): Promise<{ cells: BreakdownCell[]; anatomyOf: (pair: Pair) => Anatomy }> {
  const { scope, vantage, range, pairs, classes } = question;
  if (pairs.length === 0) return { cells: [], anatomyOf: () => new Map() };
  const leading = pairs.map(({ endpoint, clientRegion }) => ({ endpoint, clientRegion }));
  const rowsOnly = filtersRows(scope);
  const families = rowsOnly ? FAMILIES_READ.filter((family) => !family.startsWith('anatomy')) : FAMILIES_READ;
  const { members } = await readPopulation(snapshot, {
    ...{ scope, vantage, range, leading, families, dimensions: ['endpoint', 'clientRegion'] },
  });
  const byPair = new Map(pairsOf(members.filter(isTimed)).map((pair) => [pairName(pair), pair.members]));
  const basisOfPair = (pair: Pair) => basisOf(scope.metric, classes.get(pair.endpoint) ?? 'interactive');
  const sampled = rowsOnly ? await sampledAnatomies(snapshot, question) : null;
  const anatomyOf = (pair: Pair): Anatomy =>
    sampled?.(pair) ?? pooledAnatomy(byPair.get(pairName(pair)) ?? [], () => basisOfPair(pair));
  const cells = pairs.map((pair): BreakdownCell => {
    const own = byPair.get(pairName(pair)) ?? [];
    const quantiles = (d: Duration | 'wait' | 'gap') => toQuantiles(durationOf(own, d, () => basisOfPair(pair)));
    const [anatomyP50 = null, anatomyP99 = null] = anatomyPoints(anatomyOf(pair), [50, 99]);
    return {
      ...{ endpoint: pair.endpoint, clientRegion: pair.clientRegion },
      endpointClass: classes.get(pair.endpoint) ?? 'interactive',
      n: countOf(pair.members.filter(isTimed), 'n'),
      ...{ wait: quantiles('wait'), e2e: quantiles('e2e'), model: quantiles('model'), gap: quantiles('gap') },
      ...{ anatomyP50, anatomyP99 },
    };
  });
  return { cells, anatomyOf };
}

/** Merges the anatomies of members, each on its endpoint's basis. */
export function pooledAnatomy(members: readonly Member[], basisOfEndpoint: (endpoint: string) => Basis): Anatomy {
  const merged: Anatomy = new Map();
  for (const { key, set } of members) {
    const family = basisOfEndpoint(key.endpoint!) === 'e2e' ? 'anatomyE2e' : 'anatomyTtft';
    mergeAnatomy(merged, cellOf(set, family).anatomy);
  }
  return merged;
}

/** The anatomy of whole requests, for filters that roll-ups do not keep anatomies by. */
export function anatomyOfRows(rows: readonly SampledRequest[], basis: Basis): Anatomy {
  const anatomy: Anatomy = new Map();
  for (const row of rows) addToAnatomy(anatomy, row, basis);
  return anatomy;
}

async function sampledAnatomies(snapshot: Snapshot, question: CellsQuestion): Promise<(pair: Pair) => Anatomy> {
  const { scope, vantage, pairs, classes } = question;
  const basisOfPair = (pair: Pair) => basisOf(scope.metric, classes.get(pair.endpoint) ?? 'interactive');
  const read = (basis: Basis) => {
    const leading = pairs.filter((pair) => basisOfPair(pair) === basis);
    return readSampled(snapshot, { scope, vantage, basis, many: true, leading, groupOf: pairName });
  };
  const byBasis = { e2e: await read('e2e'), ttft: await read('ttft') };
  return (pair) => {
    const basis = basisOfPair(pair);
    return anatomyOfRows(byBasis[basis].sampledOf(pairName(pair)).rows, basis);
  };
}
