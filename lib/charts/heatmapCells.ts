// Cells of a heatmap with a logarithmic axis: position, share of the fullest cell, and marks at round durations.
import { heatmapMs, heatmapRow } from '../core/heatmap';

export type HeatmapCell = { bucket: number; row: number; weight: number };

/** Durations that an axis marks (ms). */
export const ROUND_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
];

/** The rows in use with one to spare on both sides; null without cells. */
export function rowRange(cells: readonly HeatmapCell[]): { low: number; high: number } | null {
  if (cells.length === 0) return null;
  const rows = cells.map((cell) => cell.row);
  return { low: rows.reduce((a, b) => Math.min(a, b)) - 1, high: rows.reduce((a, b) => Math.max(a, b)) + 2 };
}

/** Marks of the axis: rows at 1, 2, 5, 10 … ms. */
export function rowMarks(range: { low: number; high: number }): { row: number; ms: number }[] {
  const within = ({ row }: { row: number }) => row >= range.low && row <= range.high;
  return ROUND_MS.map((ms) => ({ row: heatmapRow(ms), ms })).filter(within);
}

/** How strongly a cell is drawn, 0.12 to 1: by the logarithm of its weight, so that a tail of single requests shows. */
export function strength(weight: number, most: number): number {
  return most <= 1 ? 1 : 0.12 + 0.88 * (Math.log(Math.max(1, weight)) / Math.log(most));
}

/** The durations (ms) of a stretch of rows, rounded outward to whole rows. */
export function rowsToMs(a: number, b: number): { lowMs: number; highMs: number } {
  const [low, high] = [Math.floor(Math.min(a, b)), Math.ceil(Math.max(a, b))];
  return { lowMs: rounded(heatmapMs(low)), highMs: rounded(heatmapMs(Math.max(high, low + 1))) };
}

const rounded = (ms: number) => Number(ms.toPrecision(4));
