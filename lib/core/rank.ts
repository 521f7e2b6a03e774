import { bucketIndex, type Histogram } from './histogram';

/**
 * Share of a population (weights counted) that was faster than `us`; null when the histogram is empty. A duration counts
 * as faster when its bucket is, so it is exact to the histogram's 0.55 %.
 */
export function shareFaster(histogram: Histogram, us: number): number | null {
  if (histogram.weight <= 0) return null;
  if (us <= 0) return 0;
  const at = bucketIndex(us, histogram.scale);
  let below = histogram.zero;
  for (const [index, weight] of histogram.buckets) if (index < at) below += weight;
  return below / histogram.weight;
}
