// Percentiles over time as lines with their intervals. A bucket without a value is null: a gap, never a line across.
import type { Value } from '../core/estimate';

export const LINES = ['p50', 'p95', 'p99'] as const;
export type LineKey = (typeof LINES)[number];
/** Told apart by people who do not see red and green as different, on light and dark. */
export const LINE_COLOURS: Record<LineKey, string> = { p50: '#1597a5', p95: '#8a6cf7', p99: '#d6498f' };

export type LatencyLine = {
  key: LineKey;
  colour: string;
  /** ms, one a bucket. */
  values: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  /** Buckets whose neighbours have no value: a line alone would not show them. */
  isAlone: boolean[];
};

type Point = { n: number; forming?: true } & Record<LineKey, Value>;

/** One line a percentile. The interval is drawn only where it has both ends. */
export function latencyLines(points: readonly Point[]): LatencyLine[] {
  return LINES.map((key) => {
    const values = points.map((point) => point[key].ms);
    const hasBand = (value: Value) => value.ms !== null && value.lowMs !== null && value.highMs !== null;
    return {
      ...{ key, colour: LINE_COLOURS[key], values },
      low: points.map((point) => (hasBand(point[key]) ? point[key].lowMs : null)),
      high: points.map((point) => (hasBand(point[key]) ? point[key].highMs : null)),
      isAlone: values.map(
        (ms, i) => ms !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null,
      ),
    };
  });
}
