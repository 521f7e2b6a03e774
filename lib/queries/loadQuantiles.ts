import type { Value } from '../core/estimate';
import type { Viewer } from '../core/viewer';
import type { AnswerRange } from './loadBreakdown';
import type { Scope } from './scope';

export type GroupBy = 'endpoint' | 'clientRegion' | 'serviceRegion' | 'provider' | 'model' | 'version' | 'environment';

export type QuantilesInput = Scope & {
  /** 0 < q < 1. */
  q: number;
  /** Bucket length as an ISO 8601 duration: PT5M, PT1H or P1D; null lets the range decide. */
  step: 'PT5M' | 'PT1H' | 'P1D' | null;
  groupBy: GroupBy | null;
};

export type QuantilePoint = { at: string; n: number; value: Value; forming?: true };

export type QuantileSeries = AnswerRange & {
  step: 'PT5M' | 'PT1H' | 'P1D';
  series: { group: string | null; points: QuantilePoint[] }[];
};

/** How did a percentile move over time, by group? */
export async function loadQuantiles(_question: { viewer: Viewer; input: QuantilesInput }): Promise<QuantileSeries> {
  throw new Error('built by the read path');
}
