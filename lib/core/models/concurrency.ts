import { bucketValueUs, type Histogram } from '../histogram';

/**
 * Requests in flight on average during a period, by Little's law (L = λ·W; J. D. C. Little, Operations Research 9, 1961):
 * the time of all that began in it ÷ its length. As exact as the histogram (0.55 %), and a little late when requests
 * outlast the period.
 */
export function inFlightByLittle(e2e: Histogram, seconds: number): number {
  let us = 0;
  for (const [index, weight] of e2e.buckets) us += bucketValueUs(index, e2e.scale) * weight;
  return us / 1e6 / seconds;
}
