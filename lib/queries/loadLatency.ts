import type { Quantiles, Value } from '../core/estimate';
import { heatmapRows } from '../core/heatmap';
import { toQuantiles, toValue } from '../core/quantile';
import type { Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { type AnswerRange, formatInstant } from './answer';
import { chooseStep, type Step, TIER_OF } from './loadQuantiles';
import type { Metric, Scope } from './scope';
import { readWaits } from './waits';

export type LatencyInput = Scope & {
  /** Null lets the range decide. */
  step: Step | null;
};

export type LatencyPoint = {
  at: string;
  /** When the bucket ends, exclusive. */
  until: string;
  n: number;
  p50: Value;
  p95: Value;
  p99: Value;
  forming?: true;
};

export type Latency = AnswerRange & {
  metric: Metric;
  vantage: Vantage | null;
  step: Step;
  /** Of the whole range. */
  summary: Quantiles;
  points: LatencyPoint[];
  /** Weight of the requests of bucket `bucket` (index in points) that took from 2^(row/4) to 2^((row+1)/4) ms. */
  heatmap: { bucket: number; row: number; weight: number }[];
};

/** How slow, over time? Buckets without requests are there, with no value. */
export async function loadLatency({ viewer, input }: { viewer: Viewer; input: LatencyInput }): Promise<Latency> {
  const step = chooseStep({ ...input, q: 0.5, groupBy: null });
  const waits = await readWaits({ viewer, scope: input, tier: TIER_OF[step], groupBy: null });
  const heatmap: Latency['heatmap'] = [];
  const points = waits.periods.map(({ startS, endS, forming }, bucket): LatencyPoint => {
    const histogram = waits.histogramOf(null, startS);
    for (const [row, weight] of heatmapRows(histogram)) heatmap.push({ bucket, row, weight });
    return {
      at: formatInstant(startS * 1000, input.timeZone),
      until: formatInstant(endS * 1000, input.timeZone),
      n: histogram.n,
      ...{ p50: toValue(histogram, 0.5), p95: toValue(histogram, 0.95), p99: toValue(histogram, 0.99) },
      ...(forming ? { forming: true as const } : {}),
    };
  });
  const summary = toQuantiles(waits.wholeOf(null));
  return { ...waits.range, ...{ metric: input.metric, vantage: waits.vantage, step, summary, points, heatmap } };
}
