import type { Quantiles, Value } from '../core/estimate';
import { toQuantiles, toValue } from '../core/quantile';
import type { Viewer } from '../core/viewer';
import { type AnswerRange, formatInstant } from './answer';
import type { Scope } from './scope';
import { type GroupBy, readWaits } from './waits';

export type LatencyGroup = {
  /** Null: not told. */
  group: string | null;
  quantiles: Quantiles;
  /** p95 over time, by hour in short ranges, else by day. */
  trend: { at: string; value: Value }[];
};

export type LatencyGroups = AnswerRange & { groupBy: GroupBy; groups: LatencyGroup[] };

const HOURS_UP_TO_US = 3 * 86_400e6;

/** How slow, for whom? Every value of one dimension, most requests first. */
export async function loadLatencyGroups(question: {
  viewer: Viewer;
  input: Scope & { groupBy: GroupBy };
}): Promise<LatencyGroups> {
  const { viewer, input } = question;
  const { groupBy } = input;
  const tier = input.toUs - input.fromUs <= HOURS_UP_TO_US ? 'hour' : 'day';
  const waits = await readWaits({ viewer, scope: input, tier, groupBy });
  const groups = waits.groups.map((group) => ({
    group,
    quantiles: toQuantiles(waits.wholeOf(group)),
    trend: waits.periods.map(({ startS }) => ({
      at: formatInstant(startS * 1000, input.timeZone),
      value: toValue(waits.histogramOf(group, startS), 0.95),
    })),
  }));
  const found = groups.filter(({ quantiles }) => quantiles.n > 0);
  return { ...waits.range, groupBy, groups: found.sort((a, b) => b.quantiles.n - a.quantiles.n) };
}
