import type { RangePreset } from '@/lib/core/ranges';

export const RANGE_WORDS: Record<RangePreset, string> = {
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  today: 'Today',
  yesterday: 'Yesterday',
  week: 'Last complete week',
  month: 'Last complete month',
};

export const COMPARE_WORDS = {
  previous: 'Previous period',
  weekday: 'Same weekday before',
  custom: 'Another range',
} as const;

export const METRIC_WORDS = { wait: 'Wait', e2e: 'End to end', ttft: 'First output' } as const;
export const METRIC_MEANING = {
  wait: 'what the user waits for, by endpoint class',
  e2e: 'request sent to complete response',
  ttft: 'request sent to first token or audio',
} as const;

/** Filters, in the order of the bar; the first ones are always in view. */
export const FILTERS = [
  { name: 'endpoint', label: 'Endpoint', isMain: true },
  { name: 'clientRegion', label: 'Client region', isMain: true },
  { name: 'serviceRegion', label: 'Service region', isMain: false },
  { name: 'provider', label: 'Provider', isMain: false },
  { name: 'model', label: 'Model', isMain: false },
  { name: 'environment', label: 'Environment', isMain: false },
  { name: 'version', label: 'Version', isMain: false },
  { name: 'vantage', label: 'Measured at', isMain: false },
  { name: 'outcome', label: 'Outcome', isMain: false },
] as const;
export type FilterName = (typeof FILTERS)[number]['name'];

// not those of lib/core/ranges: they would bring the calendar arithmetic of the server into the browser
export const RANGE_PRESETS = Object.keys(RANGE_WORDS) as RangePreset[];
