import type { Duration, KeyDimension, Tier } from '../core/cell';
import type { Value } from '../core/estimate';
import { toValue } from '../core/quantile';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type Member, withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
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
import { badParameter, type Metric, type Scope } from './scope';

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

export const STEPS = ['PT5M', 'PT1H', 'P1D'] as const;
export type Step = (typeof STEPS)[number];
const TIER_OF: Record<Step, Tier> = { PT5M: '5min', PT1H: 'hour', P1D: 'day' };

export type QuantilesInput = Scope & {
  /** 0 < q < 1. */
  q: number;
  /** Null lets the range decide. */
  step: Step | null;
  groupBy: GroupBy | null;
};

export type QuantilePoint = { at: string; n: number; value: Value; forming?: true };

export type QuantileSeries = AnswerRange & {
  step: Step;
  series: { group: string | null; points: QuantilePoint[] }[];
};

const MOST_POINTS = 2_500;
const HOUR_US = 3_600e6;

function dimensionsOf(input: QuantilesInput): KeyDimension[] {
  const dimensions = filteredDimensions(input);
  // The wait follows each endpoint's class, so it needs to know the endpoint.
  if (input.metric === 'wait') dimensions.push('endpoint');
  if (input.groupBy !== null && input.groupBy !== 'environment') dimensions.push(input.groupBy);
  return dimensions;
}

/** The step: as asked, or by the length of the range; 400 when it does not exist for these dimensions or is too fine. */
export function chooseStep(input: QuantilesInput): Step {
  const has5min = chooseGrouping(dimensionsOf(input), 'e2e', '5min') !== null;
  const lengthUs = input.toUs - input.fromUs;
  const fitting: Step = lengthUs <= 12 * HOUR_US && has5min ? 'PT5M' : lengthUs <= 14 * 24 * HOUR_US ? 'PT1H' : 'P1D';
  const step = input.step ?? fitting;
  if (step === 'PT5M' && !has5min) {
    throw badParameter(
      'step',
      'PT5M is kept by endpoint or by client region alone',
      input.metric === 'wait' && dimensionsOf(input).includes('clientRegion')
        ? 'Ask for PT1H, or for metric=e2e or metric=ttft: the wait needs the endpoint as well.'
        : 'Ask for PT1H, or drop the other filters.',
    );
  }
  const points = lengthUs / (step === 'PT5M' ? HOUR_US / 12 : step === 'PT1H' ? HOUR_US : 24 * HOUR_US);
  if (points > MOST_POINTS) {
    throw badParameter(
      'step',
      `${Math.round(points)} points are too many`,
      'Ask for a longer step or a shorter range.',
    );
  }
  return step;
}

const groupOf = (member: Member, groupBy: GroupBy | null) => (groupBy === null ? null : (member.key[groupBy] ?? null));

/** Which durations a metric may be read from. */
const FAMILIES_OF: Record<Metric, readonly Duration[]> = { wait: ['e2e', 'ttft'], e2e: ['e2e'], ttft: ['ttft'] };

/** How did a percentile move over time, by group? Buckets without requests are there, with no value. */
export async function loadQuantiles(question: { viewer: Viewer; input: QuantilesInput }): Promise<QuantileSeries> {
  const { viewer, input } = question;
  const step = chooseStep(input);
  const tier = TIER_OF[step];
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: tier, coarsest: tier };
  const grouping = chooseGrouping(dimensionsOf(input), FAMILIES_OF[input.metric][0]!, tier) ?? 'full';
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, { ...range, finest: 'hour', coarsest: 'day' });
    const answer = await snapshot.read({
      ...{ ...range, grouping, families: FAMILIES_OF[input.metric], byPeriod: true, ...leadingOf(input, grouping) },
      keep: (key) => key.vantage === vantage && !key.cached && key.outcome !== 'error' && accepts(input, key),
    });
    const members = [...answer.periods.values()].flat();
    const endpoints = input.metric === 'wait' ? members.map((member) => member.key.endpoint!) : [];
    const classes = await classify(snapshot, {
      endpoints,
      stored,
      vantage,
      range: { ...range, finest: 'hour', coarsest: 'day' },
    });
    const basis = (endpoint: string) => basisOf(input.metric, classes.get(endpoint) ?? 'interactive');
    const groups = input.groupBy === null ? [null] : [...new Set(members.map((m) => groupOf(m, input.groupBy)))].sort();
    const pointAt = (group: string | null, startS: number): QuantilePoint => {
      const some = (answer.periods.get(startS) ?? []).filter((m) => groupOf(m, input.groupBy) === group);
      const histogram = durationOf(some, 'wait', basis);
      const forming = snapshot.calendar.endS(tier, startS) * 1000 > snapshot.asOf.getTime();
      return {
        at: formatInstant(startS * 1000, input.timeZone),
        ...{ n: histogram.n, value: toValue(histogram, input.q) },
        ...(forming ? { forming: true as const } : {}),
      };
    };
    const series = groups.map((group) => ({ group, points: answer.cover.map(({ startS }) => pointAt(group, startS)) }));
    return { ...rangeOf(snapshot, answer, input.timeZone), step, series };
  });
}
