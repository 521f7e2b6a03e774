import { REQUEST_ORDERS, type RequestKey, type RequestOrder } from '../db/readRequests';
import { badParameter, type Metric, parseScope, type Scope } from './scope';

export type RequestsInput = Scope & {
  order: RequestOrder;
  after: RequestKey | null;
  limit: number;
  /** `attribute=name:value`; all of them must hold. */
  attributes: Record<string, string>;
  sessionId: string | null;
  traceId: string | null;
  /** Bounds of e2e (ms), half-open; null where there is none. */
  minMs: number | null;
  maxMs: number | null;
};

/** What `GET /api/v1/requests` reads besides the shared parameters. */
export const REQUEST_PARAMETERS = ['order', 'cursor', 'limit', 'attribute', 'sessionId', 'traceId', 'minMs', 'maxMs'];
const LIMIT = 50;
const LIMIT_MAX = 1_000;

/** Query parameters of `GET /api/v1/requests`. Throws 400 naming the parameter. `also`: read by the caller. */
export function parseRequests(
  params: URLSearchParams,
  options: { also?: readonly string[]; nowMs?: number } = {},
): RequestsInput {
  const { also = [], ...clock } = options;
  const scope = parseScope(params, { ...clock, also: [...REQUEST_PARAMETERS, ...also] });
  return {
    ...scope,
    order: parseOrder(params.get('order')),
    after: parseCursor(params.get('cursor')),
    limit: parseLimit(params.get('limit')),
    attributes: parseAttributes(params.getAll('attribute')),
    sessionId: params.get('sessionId') || null,
    traceId: params.get('traceId') || null,
    minMs: parseDuration(params, 'minMs'),
    maxMs: parseDuration(params, 'maxMs'),
  };
}

function parseOrder(text: string | null): RequestOrder {
  if (!text) return 'slowest';
  const known = REQUEST_ORDERS.find((order) => order === text);
  if (known !== undefined) return known;
  throw badParameter('order', `"${text.slice(0, 40)}" is not known`, `Use one of: ${REQUEST_ORDERS.join(', ')}.`);
}

function parseLimit(text: string | null): number {
  const limit = text ? Number(text) : LIMIT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw badParameter('limit', 'is no page size', `Give a whole number from 1 to ${LIMIT_MAX}.`);
}

function parseDuration(params: URLSearchParams, name: 'minMs' | 'maxMs'): number | null {
  const text = params.get(name);
  if (!text) return null;
  const ms = Number(text);
  if (ms >= 0 && ms <= 86_400_000) return ms;
  throw badParameter(name, 'is no duration', 'Give milliseconds from 0 to 86,400,000.');
}

function parseAttributes(texts: readonly string[]): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null);
  for (const text of texts.filter((one) => one !== '')) {
    const at = text.indexOf(':');
    if (at < 1) throw badParameter('attribute', 'has no name', 'Write it as name:value, such as plan:pro.');
    attributes[text.slice(0, at)] = text.slice(at + 1);
  }
  return attributes;
}

/** A key as text for the next page; `parseCursor` reads it. */
export function formatCursor({ e2eUs, startedAtUs, id }: RequestKey): string {
  return Buffer.from(JSON.stringify([e2eUs, startedAtUs, id])).toString('base64url');
}

function parseCursor(text: string | null): RequestKey | null {
  if (!text) return null;
  try {
    const [e2eUs, startedAtUs, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (Number.isSafeInteger(e2eUs) && Number.isSafeInteger(startedAtUs) && typeof id === 'string' && id.length <= 64)
      return { e2eUs: e2eUs as number, startedAtUs: startedAtUs as number, id };
  } catch {
    // falls through to the answer below
  }
  throw badParameter('cursor', 'is none of ours', 'Take it from "next" of the page before, or leave it out.');
}

/** Query parameters of `GET /api/v1/requests/{id}`: when it started (a hint), and what the wait is measured as. */
export function parseRequestLookup(
  params: URLSearchParams,
  options: { also?: readonly string[] } = {},
): { startedAtUs: number | null; metric: Metric } {
  const { also = [] } = options;
  for (const name of params.keys())
    if (!['startedAt', 'metric', ...also].includes(name))
      throw badParameter(name.slice(0, 40), 'no such parameter', 'Use: startedAt, metric.');
  const metric = params.get('metric');
  const startedAt = params.get('startedAt');
  const startedAtMs = startedAt ? Date.parse(startedAt) : null;
  if (Number.isNaN(startedAtMs)) throw badParameter('startedAt', 'is no time', 'Give RFC 3339, as in the list.');
  return {
    startedAtUs: startedAtMs === null ? null : startedAtMs * 1000,
    metric: parseScope(new URLSearchParams(metric ? { metric } : {})).metric,
  };
}
