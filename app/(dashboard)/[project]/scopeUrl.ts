// The URL is the whole state of a page: presets are kept as such ("range=24h"), so that a link stays "the last day".
export { withParams } from './urlParams';

import { parseScope, type Scope } from '@/lib/queries/scope';

export const RANGES = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
} as const;
type Range = keyof typeof RANGES;
const RANGE_MS: Record<Range, number> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '28d': 2_419_200_000 };
const DEFAULT_RANGE: Range = '7d';
/** Parameters of pages only, which the API does not know. */
const PAGE_ONLY = ['range', 'bars'];

export type SearchParams = Record<string, string | string[] | undefined>;

export type PageScope = { scope: Scope; range: Range | 'custom'; params: URLSearchParams };

/** A page's query string as a scope. Throws AnswerError 400 that names the parameter. */
export function parsePageScope(search: SearchParams, nowMs: number): PageScope {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value ?? []].flat()) if (one !== '') params.append(name, one);
  const range = rangeOf(params);
  const asked = new URLSearchParams(params);
  for (const name of PAGE_ONLY) asked.delete(name);
  if (range === 'custom') {
    for (const name of ['from', 'to']) if (asked.has(name)) asked.set(name, inUtc(asked.get(name) ?? ''));
  } else {
    asked.set('from', new Date(nowMs - RANGE_MS[range]).toISOString());
    asked.set('to', new Date(nowMs).toISOString());
  }
  return { scope: parseScope(asked), range, params };
}

function rangeOf(params: URLSearchParams): Range | 'custom' {
  const given = params.get('range');
  if (given === null) return params.has('from') || params.has('to') ? 'custom' : DEFAULT_RANGE;
  return given in RANGES ? (given as Range) : 'custom';
}

/** What a date-time field sends has no zone: it is meant in UTC, as the label says. */
function inUtc(text: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? `${text}Z` : text;
}
