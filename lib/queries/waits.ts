// Histograms of the wait by period of time and group, as percentiles over time, heatmaps and tables are read from.

import type { Duration, KeyDimension, Tier } from '../core/cell';
import { createHistogram, type Histogram, mergeHistogram } from '../core/histogram';
import type { Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type Member, withSnapshot } from '../db/snapshot';
import { type AnswerRange, rangeOf } from './answer';
import {
  accepts,
  basisOf,
  chooseGrouping,
  chooseVantage,
  classify,
  durationOf,
  filteredDimensions,
  leadingOf,
} from './population';
import type { Metric, Scope } from './scope';

export const GROUP_BY = [
  'endpoint',
  'clientRegion',
  'serviceRegion',
  'provider',
  'model',
  'version',
  'environment',
] as const;
export type GroupBy = (typeof GROUP_BY)[number];

/** Which durations a metric may be read from. */
export const FAMILIES_OF: Record<Metric, readonly Duration[]> = { wait: ['e2e', 'ttft'], e2e: ['e2e'], ttft: ['ttft'] };

/** Dimensions that the cells must know. The wait follows each endpoint's class, so it needs the endpoint. */
export function dimensionsOf(scope: Scope, groupBy: GroupBy | null): KeyDimension[] {
  const dimensions = filteredDimensions(scope);
  if (scope.metric === 'wait') dimensions.push('endpoint');
  if (groupBy !== null && groupBy !== 'environment') dimensions.push(groupBy);
  return dimensions;
}

export type Waits = {
  range: AnswerRange;
  vantage: Vantage | null;
  /** Every period of the range, with or without requests; `forming` while it has not ended. */
  periods: { startS: number; endS: number; forming: boolean }[];
  /** What was found, sorted; a single null without a grouping, null also for "not told". */
  groups: (string | null)[];
  /** The waits of a group in one period. */
  histogramOf: (group: string | null, startS: number) => Histogram;
  /** The waits of a group in the whole range. */
  wholeOf: (group: string | null) => Histogram;
};

/** Reads the waits of a scope: one vantage, without errors and response-cache hits. */
export async function readWaits(question: {
  viewer: Viewer;
  scope: Scope;
  tier: Tier;
  /** Larger periods may stand in where only the whole counts: less to read. */
  coarsest?: Tier;
  groupBy: GroupBy | null;
}): Promise<Waits> {
  const { viewer, scope, tier, coarsest = tier, groupBy } = question;
  const range = { fromUs: scope.fromUs, toUs: scope.toUs, finest: tier, coarsest };
  const wide = { ...range, finest: 'hour', coarsest: 'day' } as const;
  const families = FAMILIES_OF[scope.metric];
  const grouping = chooseGrouping(dimensionsOf(scope, groupBy), families[0]!, tier) ?? 'full';
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, scope, wide);
    const answer = await snapshot.read({
      ...{ ...range, grouping, families, byPeriod: true, ...leadingOf(scope, grouping) },
      keep: (key) => key.vantage === vantage && !key.cached && key.outcome !== 'error' && accepts(scope, key),
    });
    const members = [...answer.periods.values()].flat();
    const endpoints = scope.metric === 'wait' ? members.map((member) => member.key.endpoint!) : [];
    const classes = await classify(snapshot, { endpoints, stored, vantage, range: wide });
    const basis = (endpoint: string) => basisOf(scope.metric, classes.get(endpoint) ?? 'interactive');
    const groupOf = (member: Member) => (groupBy === null ? null : (member.key[groupBy] ?? null));
    const byGroup = new Map<string | null, Map<number, Histogram>>();
    for (const [startS, some] of answer.periods)
      for (const group of new Set(some.map(groupOf))) {
        const ofGroup = byGroup.get(group) ?? new Map<number, Histogram>();
        byGroup.set(group, ofGroup);
        const own = some.filter((member) => groupOf(member) === group);
        ofGroup.set(startS, durationOf(own, 'wait', basis));
      }
    return {
      ...{ range: rangeOf(snapshot, answer, scope.timeZone), vantage },
      periods: answer.cover.map(({ startS, tier: own }) => {
        const endS = snapshot.calendar.endS(own, startS);
        return { startS, endS, forming: endS * 1000 > snapshot.asOf.getTime() };
      }),
      groups: groupBy === null ? [null] : [...byGroup.keys()].sort(),
      histogramOf: (group, startS) => byGroup.get(group)?.get(startS) ?? createHistogram(),
      wholeOf: (group) => {
        const whole = createHistogram();
        for (const histogram of byGroup.get(group)?.values() ?? []) mergeHistogram(whole, histogram);
        return whole;
      },
    };
  });
}
