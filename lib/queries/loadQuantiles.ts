import type { Tier } from '../core/cell';
import type { Value } from '../core/estimate';
import { toValue } from '../core/quantile';
import type { Viewer } from '../core/viewer';
import { type AnswerRange, formatInstant } from './answer';
import { chooseGrouping } from './population';
import { badParameter, type Scope } from './scope';
import { dimensionsOf, type GroupBy, readWaits, type Waits } from './waits';

export const STEPS = ['PT5M', 'PT1H', 'P1D'] as const;
export type Step = (typeof STEPS)[number];
export const TIER_OF: Record<Step, Tier> = { PT5M: '5min', PT1H: 'hour', P1D: 'day' };

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

/** The step: as asked, or by the length of the range; 400 when it does not exist for these dimensions or is too fine. */
export function chooseStep(input: QuantilesInput): Step {
  const has5min = chooseGrouping(dimensionsOf(input, input.groupBy), 'e2e', '5min') !== null;
  const lengthUs = input.toUs - input.fromUs;
  const fitting: Step = lengthUs <= 12 * HOUR_US && has5min ? 'PT5M' : lengthUs <= 14 * 24 * HOUR_US ? 'PT1H' : 'P1D';
  const step = input.step ?? fitting;
  if (step === 'PT5M' && !has5min) {
    throw badParameter(
      'step',
      'PT5M is kept by endpoint or by client region alone',
      input.metric === 'wait' && dimensionsOf(input, input.groupBy).includes('clientRegion')
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

/** How did a percentile move over time, by group? Buckets without requests are there, with no value. */
export async function loadQuantiles(question: { viewer: Viewer; input: QuantilesInput }): Promise<QuantileSeries> {
  const { viewer, input } = question;
  const step = chooseStep(input);
  const waits = await readWaits({ viewer, scope: input, tier: TIER_OF[step], groupBy: input.groupBy });
  const pointAt = (group: string | null, { startS, forming }: Waits['periods'][number]): QuantilePoint => {
    const histogram = waits.histogramOf(group, startS);
    return {
      at: formatInstant(startS * 1000, input.timeZone),
      ...{ n: histogram.n, value: toValue(histogram, input.q) },
      ...(forming ? { forming: true as const } : {}),
    };
  };
  const series = waits.groups.map((group) => ({
    group,
    points: waits.periods.map((period) => pointAt(group, period)),
  }));
  return { ...waits.range, step, series };
}
