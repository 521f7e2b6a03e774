import type { KeyDimension, Tier } from '../core/cell';
import { DIMENSIONS_OF } from '../core/cell';
import type { Value } from '../core/estimate';
import { createHistogram } from '../core/histogram';
import { toValue } from '../core/quantile';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type CellAnswer, readCells } from '../db/readCells';
import type { AnswerRange } from './answer';
import { durationOf } from './loadBreakdown';
import {
  basisOf,
  chooseGrouping,
  classify,
  filteredDimensions,
  type Member,
  rangeOf,
  selectMembers,
} from './population';
import { badParameter, type Scope } from './scope';

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
  const has5min =
    DIMENSIONS_OF[chooseGrouping(dimensionsOf(input))].length <= 1 && !dimensionsOf(input).includes('serviceRegion');
  const lengthUs = input.toUs - input.fromUs;
  const fitting: Step = lengthUs <= 12 * HOUR_US && has5min ? 'PT5M' : lengthUs <= 14 * 24 * HOUR_US ? 'PT1H' : 'P1D';
  const step = input.step ?? fitting;
  if (step === 'PT5M' && !has5min) {
    throw badParameter(
      'step',
      'PT5M exists by endpoint or client region only',
      'Ask for PT1H, or drop the other filters.',
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

function pointsOf(
  answer: CellAnswer,
  tier: Tier,
  valueAt: (periodS: number) => { n: number; value: Value },
): QuantilePoint[] {
  return answer.cover.map(({ startS }) => {
    const forming = answer.calendar.endS(tier, startS) * 1000 > answer.asOf.getTime();
    return {
      at: new Date(startS * 1000).toISOString(),
      ...valueAt(startS),
      ...(forming ? { forming: true as const } : {}),
    };
  });
}

/** How did a percentile move over time, by group? Buckets without requests are there, with no value. */
export async function loadQuantiles(question: { viewer: Viewer; input: QuantilesInput }): Promise<QuantileSeries> {
  const { viewer, input } = question;
  const step = chooseStep(input);
  const tier = TIER_OF[step];
  const [stored, answer] = await Promise.all([
    loadEndpointClasses(viewer.projectId),
    readCells({
      ...{ projectId: viewer.projectId, fromUs: input.fromUs, toUs: input.toUs, finest: tier, coarsest: tier },
      ...{ grouping: chooseGrouping(dimensionsOf(input)), families: ['duration'], byPeriod: true },
    }),
  ]);
  const everyCell = [...answer.periods.values()].map((sets) => selectMembers(sets, input));
  const vantage =
    input.vantage ??
    (['client', 'service', 'probe'] as const).find((v) => everyCell.some((p) => p.vantage === v)) ??
    null;
  const byPeriod = new Map(
    [...answer.periods].map(([periodS, sets]) => [
      periodS,
      selectMembers(sets, { ...input, vantage }).members.filter((m) => m.key.outcome !== 'error'),
    ]),
  );
  const members = [...byPeriod.values()].flat();
  const classes = input.metric === 'wait' ? classify(members, stored) : new Map();
  const basis = (endpoint: string) => basisOf(input.metric, classes.get(endpoint) ?? 'interactive');
  const groups = input.groupBy === null ? [null] : [...new Set(members.map((m) => groupOf(m, input.groupBy)))].sort();
  const series = groups.map((group) => ({
    group,
    points: pointsOf(answer, tier, (periodS) => {
      const some = (byPeriod.get(periodS) ?? []).filter((m) => groupOf(m, input.groupBy) === group);
      const histogram = some.length === 0 ? createHistogram() : durationOf(some, 'wait', basis);
      return { n: histogram.n, value: toValue(histogram, input.q) };
    }),
  }));
  return { ...rangeOf(answer), step, series };
}
