// Models and hosts of one endpoint, counted from roll-ups: every request, errors included.

import { type CellKey, COUNTS, type Family } from '../core/cell';
import type { Value } from '../core/estimate';
import { createHistogram, effectiveN, type Histogram, mergeHistogram } from '../core/histogram';
import { type Abandonment, abandonment } from '../core/models/abandonment';
import { type Share, wilson } from '../core/models/proportion';
import { type Amount, meanOf } from '../core/models/weighed';
import { toValue } from '../core/quantile';
import type { Basis, Outcome, Vantage } from '../core/terms';
import { cellOf, type Member, type Snapshot } from '../db/snapshot';
import { accepts } from './population';
import type { Scope } from './scope';

export type ModelName = { provider: string | null; model: string | null };
export type HostName = ModelName & { modelRegion: string | null };
export type Percentiles = { p50: Value; p99: Value };

/** What is counted of one model, or of one of its hosts. Response-cache hits are not in it. */
export type ModelCounts = {
  n: number;
  outcomes: Record<Outcome, number>;
  /** Ok ÷ (ok + error + timeout). Who cancelled got no answer that could have failed. */
  success: Share;
  /** Cancelled ÷ all, for reference. */
  cancelled: Share;
  wait: Percentiles;
  ttft: Percentiles;
  /** Mean of what was told of the answers, 0–1. */
  quality: Amount;
  /** Mean tokens of the requests that tell them. */
  inputTokens: number | null;
  outputTokens: number | null;
};

export type ModelCells = { live: Member[]; cached: Member[] };

const FAMILIES: readonly Family[] = ['counts', 'e2e', 'ttft', 'quality'];

/** Reads the cells of an endpoint with all their dimensions. Outcomes are counted, whatever the filter by outcome says. */
export async function readModelCells(
  snapshot: Snapshot,
  question: {
    scope: Scope;
    endpoint: string;
    vantage: Vantage | null;
    range: { fromUs: number; toUs: number; finest: 'hour' };
  },
): Promise<ModelCells> {
  const { endpoint, vantage, range } = question;
  const scope = { ...question.scope, endpoint: [endpoint], outcome: [] };
  const { clientRegion } = scope;
  const { periods } = await snapshot.read({
    ...{ ...range, grouping: 'full', families: FAMILIES },
    leading: clientRegion.length === 0 ? [{ endpoint }] : clientRegion.map((one) => ({ endpoint, clientRegion: one })),
    keep: (key) => key.vantage === vantage && accepts(scope, key),
  });
  const members = periods.get(0) ?? [];
  return { live: members.filter(({ key }) => !key.cached), cached: members.filter(({ key }) => key.cached) };
}

export const modelOf = ({ provider = null, model = null }: Pick<CellKey, 'provider' | 'model'>): ModelName => ({
  provider,
  model,
});
export const hostOf = (key: Pick<CellKey, 'provider' | 'model' | 'modelRegion'>): HostName => ({
  ...modelOf(key),
  modelRegion: key.modelRegion ?? null,
});

/** "provider/model": how a model is named in addresses and tables. */
export const modelText = ({ provider, model }: ModelName): string => `${provider ?? '–'}/${model ?? 'not told'}`;
/** "provider/model in region". */
export const hostText = (host: HostName): string => `${modelText(host)} in ${host.modelRegion ?? 'not told'}`;

/** Members by what a key says, most requests first. */
export function groupMembers<Name>(
  members: readonly Member[],
  nameOf: (key: CellKey) => Name,
): { name: Name; members: Member[] }[] {
  const groups = new Map<string, { name: Name; members: Member[] }>();
  for (const member of members) {
    const name = nameOf(member.key);
    const id = JSON.stringify(name);
    const group = groups.get(id) ?? { name, members: [] };
    groups.set(id, group);
    group.members.push(member);
  }
  return [...groups.values()].sort((a, b) => sumOf(b.members, 'n') - sumOf(a.members, 'n'));
}

function sumOf(members: readonly Member[], count: (typeof COUNTS)[number]): number {
  const index = COUNTS.indexOf(count);
  return members.reduce((sum, { set }) => sum + cellOf(set, 'counts').counts[index]!, 0);
}

export function merged(members: readonly Member[], family: 'e2e' | 'ttft'): Histogram {
  const into = createHistogram();
  for (const { key, set } of members) if (key.outcome !== 'error') mergeHistogram(into, cellOf(set, family).histogram);
  return into;
}

/** Median and p99. */
export const percentilesOf = (histogram: Histogram): Percentiles => ({
  p50: toValue(histogram, 0.5),
  p99: toValue(histogram, 0.99),
});

/** Counts, shares and percentiles of some cells. */
export function countsOf(members: readonly Member[], basis: Basis, wanted: readonly Outcome[]): ModelCounts {
  const of = (outcome: Outcome) => members.filter(({ key }) => key.outcome === outcome);
  const [n, weight] = [sumOf(members, 'n'), sumOf(members, 'weight')];
  const shown = wanted.length === 0 ? members : members.filter(({ key }) => wanted.includes(key.outcome));
  const e2e = merged(members, 'e2e');
  // errors have no histogram: their weights are taken to be as uneven as those of the others
  const evenness = e2e.n > 0 ? effectiveN(e2e) / e2e.n : 1;
  const shareOf = (part: number, whole: readonly Member[]) => {
    const all = sumOf(whole, 'weight');
    return wilson(all > 0 ? part / all : 0, sumOf(whole, 'n') * evenness);
  };
  const [ok, cancelled] = [of('ok'), of('cancelled')];
  return {
    n,
    outcomes: {
      ...{ ok: sumOf(ok, 'n'), error: sumOf(of('error'), 'n') },
      ...{ timeout: sumOf(of('timeout'), 'n'), cancelled: sumOf(cancelled, 'n') },
    },
    success: shareOf(
      sumOf(ok, 'weight'),
      members.filter(({ key }) => key.outcome !== 'cancelled'),
    ),
    cancelled: weight > 0 ? shareOf(sumOf(cancelled, 'weight'), members) : { share: null, n: 0 },
    wait: percentilesOf(merged(shown, basis)),
    ttft: percentilesOf(merged(shown, 'ttft')),
    quality: qualityOf(members),
    inputTokens: ratio(sumOf(members, 'inputTokens'), sumOf(members, 'withInputTokens')),
    outputTokens: ratio(sumOf(members, 'outputTokens'), sumOf(members, 'withOutputTokens')),
  };
}

const ratio = (sum: number, n: number) => (n > 0 ? sum / n : null);

function qualityOf(members: readonly Member[]): Amount {
  const sums = { weight: 0, weightSquared: 0, sum: 0, sumSquares: 0 };
  for (const { set } of members) {
    const [, weight = 0, squared = 0, quality = 0, qualitySquared = 0] = cellOf(set, 'quality').sums;
    sums.weight += weight;
    sums.weightSquared += squared;
    sums.sum += quality / 1_000;
    sums.sumSquares += qualitySquared / 1_000_000;
  }
  return meanOf(sums);
}

/** When users leave: cancelled before anything came, against every wait. */
export function abandonmentOf(members: readonly Member[], basis: Basis): Abandonment | null {
  const cancelled = members.filter(({ key }) => key.outcome === 'cancelled');
  // by e2e, those who had their first output are not counted: what is left went with nothing
  return abandonment(merged(cancelled, 'e2e'), merged(members, basis));
}
