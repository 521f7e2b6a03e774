// The tables of the Latency page as CSV: the same answers, the same display rule. A percentile without a value is empty.

import { csvLine } from '../core/csv';
import { QUANTILE_KEYS, QUANTILE_LABELS, type Value } from '../core/estimate';
import type { Latency } from './loadLatency';
import type { LatencyGroups } from './loadLatencyGroups';

const headingOf = (label: string) => [`${label}_ms`, `${label}_low_ms`, `${label}_high_ms`];
const cellsOf = (value: Value) => [value.ms, value.lowMs, value.highMs];
const COLUMNS = ['p50', 'p95', 'p99'] as const;

/** One line a bucket. */
export function latencyCsv(latency: Latency): string {
  return [
    ['at', 'until', 'forming', 'n', ...COLUMNS.flatMap(headingOf)],
    ...latency.points.map((point) => [
      ...[point.at, point.until, point.forming ? 'yes' : 'no', point.n],
      ...COLUMNS.flatMap((column) => cellsOf(point[column])),
    ]),
  ]
    .map(csvLine)
    .join('');
}

/** One line a group. */
export function latencyGroupsCsv({ groupBy, groups }: LatencyGroups): string {
  return [
    [groupBy, 'n', ...QUANTILE_KEYS.flatMap((key) => headingOf(QUANTILE_LABELS[key])), 'max_ms'],
    ...groups.map(({ group, quantiles }) => [
      ...[group, quantiles.n],
      ...QUANTILE_KEYS.flatMap((key) => cellsOf(quantiles[key])),
      quantiles.maxMs,
    ]),
  ]
    .map(csvLine)
    .join('');
}
