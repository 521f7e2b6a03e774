import type { Value } from '../core/estimate';

/** A duration with its unit: "4.2 ms", "380 ms", "12.4 s"; "–" when nothing was measured. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  const size = Math.abs(ms);
  if (size >= 10_000) return `${grouped(ms / 1000, 1)} s`;
  return `${grouped(ms, size < 10 ? 1 : 0)} ms`;
}

/** A percentile by the display rule: the value, "≥ 300 ms" with too few requests, "–" without data. */
export function formatValue(value: Value): string {
  if (value.ms !== null) return formatMs(value.ms);
  if (value.reason === 'too_few' && value.lowMs !== null) return `≥ ${formatMs(value.lowMs)}`;
  return '–';
}

/** What a person should know about a value: its interval, or why there is none. */
export function explainValue(value: Value): string {
  if (value.ms === null) return value.reason === 'too_few' ? 'too few requests for this percentile' : 'no data';
  if (value.lowMs === null && value.highMs === null) return 'no interval';
  if (value.highMs === null) return `at least ${formatMs(value.lowMs)} (95 %)`;
  return `${formatMs(value.lowMs)} to ${formatMs(value.highMs)} (95 %)`;
}

/** A ratio as a percentage with at most `digits` decimals; "–" for null. Never rounds up to 100 %. */
export function formatRatio(ratio: number | null, digits = 1): string {
  if (ratio === null) return '–';
  const scale = 10 ** digits;
  const percent = ratio < 1 && ratio > 0 ? Math.floor(ratio * 100 * scale + 1e-9) / scale : ratio * 100;
  return `${grouped(percent, digits)} %`;
}

/** A count with thousands separated: "12,345". */
export function formatCount(n: number): string {
  return grouped(n, 0);
}

function grouped(value: number, digits: number): string {
  const rounded = Number(value.toFixed(digits)) + 0; // + 0: no "-0"
  return rounded.toLocaleString('en', { maximumFractionDigits: digits });
}
