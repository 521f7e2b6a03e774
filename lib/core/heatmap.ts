// A histogram at the resolution of a picture: rows of equal ratio, so that the axis is logarithmic.

import type { Histogram } from './histogram';

/** Rows an octave: each is 19 % higher than the one below. */
export const ROWS_AN_OCTAVE = 4;

/** Row of a duration (ms, > 0); fractional, so that it serves as the position on the axis too. */
export function heatmapRow(ms: number): number {
  return Math.log2(ms) * ROWS_AN_OCTAVE;
}

/** The duration (ms) at the lower edge of a row. */
export function heatmapMs(row: number): number {
  return 2 ** (row / ROWS_AN_OCTAVE);
}

/** Row → weight of the requests in it. Durations of 0 are in no row. */
export function heatmapRows(histogram: Histogram): Map<number, number> {
  const rows = new Map<number, number>();
  for (const [index, weight] of histogram.buckets) {
    // a bucket of the histogram begins at 2^(index / 2^scale) seconds; its middle decides
    const ms = 1_000 * 2 ** ((index + 0.5) / 2 ** histogram.scale);
    const row = Math.floor(heatmapRow(ms));
    rows.set(row, (rows.get(row) ?? 0) + weight);
  }
  return rows;
}
