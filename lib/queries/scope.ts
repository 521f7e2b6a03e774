// The shared query parameters: one parser for pages and API.

import { z } from 'zod';
import { OUTCOMES, type Outcome, VANTAGES, type Vantage } from '../core/terms';
import { AnswerError } from '../platform/errors';
import { SCOPE_LISTS, SCOPE_PARAMETERS, type ScopeList } from './scopeParameters';

/** What the wait is measured as: `wait` follows each endpoint's class. */
export const METRICS = ['wait', 'e2e', 'ttft'] as const;
export type Metric = (typeof METRICS)[number];

/** A question's population. Times are µs since the epoch, half-open. An empty list means "any". */
export type Scope = {
  fromUs: number;
  toUs: number;
  timeZone: string | null;
  endpoint: string[];
  clientRegion: string[];
  serviceRegion: string[];
  provider: string[];
  model: string[];
  environment: string[];
  version: string[];
  outcome: Outcome[];
  /** Null: client where the project has it, else service. Never pooled. */
  vantage: Vantage | null;
  metric: Metric;
};

const DAY_MS = 86_400_000;
const LONGEST_DAYS = 1_100;

/** 400 that names the parameter and the fix. */
export function badParameter(name: string, problem: string, hint: string): AnswerError {
  return new AnswerError({ status: 400, code: 'bad_parameter', message: `${name}: ${problem}`, hint });
}

/** With its zone: a time without one would mean another instant on every server. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

function parseTimeMs(name: string, text: string): number {
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw badParameter(
    name,
    `"${text.slice(0, 40)}" is no time`,
    'Give RFC 3339 (2026-11-30T09:00:00Z) or epoch milliseconds.',
  );
}

function parseOne<T extends string>(params: URLSearchParams, name: string, allowed: readonly T[]): T | null {
  const value = params.get(name);
  if (value === null || value === '') return null;
  const parsed = z.enum(allowed as [T, ...T[]]).safeParse(value);
  if (parsed.success) return parsed.data;
  throw badParameter(name, `"${value.slice(0, 40)}" is not known`, `Use one of: ${allowed.join(', ')}.`);
}

function parseZone(zone: string | null): string | null {
  if (!zone) return null;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    throw badParameter(
      'timeZone',
      `"${zone.slice(0, 40)}" is no time zone`,
      'Give an IANA name such as Europe/Berlin.',
    );
  }
}

/**
 * Query parameters → scope; the last 24 hours when no range is given. Throws 400 for unknown names and values.
 * `options.also` lists parameters that the caller reads itself.
 */
export function parseScope(params: URLSearchParams, options: { nowMs?: number; also?: readonly string[] } = {}): Scope {
  const { nowMs = Date.now(), also = [] } = options;
  for (const name of params.keys()) {
    if ((SCOPE_PARAMETERS as readonly string[]).includes(name) || also.includes(name)) continue;
    throw badParameter(name.slice(0, 40), 'no such parameter', `Use: ${[...SCOPE_PARAMETERS, ...also].join(', ')}.`);
  }
  for (const [name, value] of params) {
    if (value.includes('\0')) throw badParameter(name, 'holds a NUL character', 'Remove %00: no stored label has one.');
  }
  for (const name of ['from', 'to', 'timeZone', 'vantage', 'metric', ...also])
    if (params.getAll(name).length > 1) throw badParameter(name, 'is given more than once', 'Give it once.');
  const list = (name: string) => params.getAll(name).filter((value) => value !== '');
  const to = params.get('to');
  const from = params.get('from');
  const toMs = to ? parseTimeMs('to', to) : nowMs;
  const fromMs = from ? parseTimeMs('from', from) : toMs - DAY_MS;
  if (fromMs >= toMs) throw badParameter('from', 'is not before to', 'Give a range with from < to.');
  if (toMs - fromMs > LONGEST_DAYS * DAY_MS) {
    throw badParameter('from', `range is longer than ${LONGEST_DAYS} days`, 'Ask for a shorter range.');
  }
  const outcomes = list('outcome').map((value) => {
    if ((OUTCOMES as readonly string[]).includes(value)) return value as Outcome;
    throw badParameter('outcome', `"${value.slice(0, 40)}" is not known`, `Use one of: ${OUTCOMES.join(', ')}.`);
  });
  const lists = Object.fromEntries(SCOPE_LISTS.map((name) => [name, list(name)])) as Record<ScopeList, string[]>;
  return {
    ...lists,
    fromUs: Math.round(fromMs * 1000),
    toUs: Math.round(toMs * 1000),
    timeZone: parseZone(params.get('timeZone')),
    outcome: outcomes,
    vantage: parseOne<Vantage>(params, 'vantage', VANTAGES),
    metric: parseOne<Metric>(params, 'metric', METRICS) ?? 'wait',
  };
}
