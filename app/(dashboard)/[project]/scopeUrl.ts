// The URL is the whole state of a page: presets are kept as such ("range=24h"), so that a link stays "the last day".
import {
  localToMs,
  presetRange,
  previousRange,
  RANGE_PRESETS,
  type RangePreset,
  sameWeekdayRange,
} from '@/lib/core/ranges';
import { badParameter, parseScope, type Scope } from '@/lib/queries/scope';

export { withParams } from './urlParams';

const DEFAULT_RANGE: RangePreset = '7d';
/** Parameters of pages only, which the API does not know. */
const PAGE_ONLY = ['range', 'bars', 'explain', 'explainAt', 'compare', 'compareFrom', 'compareTo'];

export type SearchParams = Record<string, string | string[] | undefined>;

export const COMPARE_KINDS = ['previous', 'weekday', 'custom'] as const;
export type CompareKind = (typeof COMPARE_KINDS)[number];

export type PageScope = {
  scope: Scope;
  range: RangePreset | 'custom';
  /** What the scope is held against; null when nothing was chosen. Half-open, µs since the epoch. */
  compare: { kind: CompareKind; fromUs: number; toUs: number } | null;
  /** The zone that times are shown in, and the project's own. */
  zone: string;
  projectZone: string;
  params: URLSearchParams;
};

/**
 * A page's query string as a scope. Times without an offset are meant in the zone shown: `timeZone`, else the project's.
 * Throws AnswerError 400 that names the parameter.
 */
export function parsePageScope(search: SearchParams, nowMs: number, projectZone = 'UTC'): PageScope {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value ?? []].flat()) if (one !== '') params.append(name, one);
  const asked = new URLSearchParams(params);
  for (const name of PAGE_ONLY) asked.delete(name);
  const zone = parseScope(new URLSearchParams({ timeZone: params.get('timeZone') ?? '' })).timeZone ?? projectZone;
  const range = rangeOf(params);
  if (range === 'custom') {
    for (const name of ['from', 'to']) if (asked.has(name)) asked.set(name, inZone(asked.get(name) ?? '', zone));
  } else {
    const { fromMs, toMs } = presetRange(range, nowMs, zone);
    asked.set('from', new Date(fromMs).toISOString());
    asked.set('to', new Date(toMs).toISOString());
  }
  const scope = parseScope(asked, { nowMs });
  return { scope, range, compare: compareOf(params, { scope, range, zone }), zone, projectZone, params };
}

function rangeOf(params: URLSearchParams): RangePreset | 'custom' {
  const given = params.get('range');
  if (given === null) return params.has('from') || params.has('to') ? 'custom' : DEFAULT_RANGE;
  return RANGE_PRESETS.find((preset) => preset === given) ?? 'custom';
}

function compareOf(params: URLSearchParams, of: Pick<PageScope, 'scope' | 'range' | 'zone'>): PageScope['compare'] {
  const given = params.get('compare');
  if (given === null || given === 'none') return null;
  const kind = COMPARE_KINDS.find((known) => known === given);
  if (kind === undefined)
    throw badParameter('compare', `"${given.slice(0, 40)}" is not known`, `Use one of: ${COMPARE_KINDS.join(', ')}.`);
  if (kind === 'custom') {
    const bounds = new URLSearchParams();
    for (const [name, from] of [
      ['from', 'compareFrom'],
      ['to', 'compareTo'],
    ] as const) {
      const text = params.get(from);
      if (text === null)
        throw badParameter(from, 'is missing', 'Give the range to compare with: compareFrom and compareTo.');
      bounds.set(name, inZone(text, of.zone));
    }
    const { fromUs, toUs } = parseScope(bounds);
    return { kind, fromUs, toUs };
  }
  const now = { fromMs: of.scope.fromUs / 1000, toMs: of.scope.toUs / 1000 };
  const preset = of.range === 'custom' ? null : of.range;
  const then = kind === 'previous' ? previousRange(now, preset, of.zone) : sameWeekdayRange(now, of.zone);
  return { kind, fromUs: then.fromMs * 1000, toUs: then.toMs * 1000 };
}

/** What a date-time field sends has no offset: it is meant in the zone shown. */
function inZone(text: string, zone: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return text;
  try {
    return new Date(localToMs(text, zone)).toISOString();
  } catch {
    return text; // no such date: the parser says so
  }
}
