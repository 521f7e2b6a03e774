import type { EndpointClass } from '../core/endpointClass';
import type { TimedRequest } from '../core/request';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type RequestFilter, readRequests } from '../db/readRequests';
import { withSnapshot } from '../db/snapshot';
import { AnswerError } from '../platform/errors';
import { formatCursor, type RequestsInput } from './parseRequests';
import { basisOf, chooseVantage, classify } from './population';
import { type RequestLine, toLine } from './requestLine';
import type { Scope } from './scope';

export type RequestPage = {
  /** The range asked for, RFC 3339, half-open: single requests need no snapping. */
  from: string;
  to: string;
  asOf: string;
  order: RequestsInput['order'];
  rows: RequestLine[];
  /** Cursor of the next page; null at the end. */
  next: string | null;
};

export type ClassOf = (endpoint: string) => EndpointClass;

/** Which requests were slow? A page of single requests. Throws 400 and 503 (beyond the budget for raw reads). */
export async function loadRequests({ viewer, input }: { viewer: Viewer; input: RequestsInput }): Promise<RequestPage> {
  const asOf = new Date().toISOString();
  const { limit, order, after } = input;
  const found = await readPage({ viewer, input, after, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const classOf = await classesFor(viewer, input, shown);
  const last = shown.at(-1);
  return {
    from: new Date(input.fromUs / 1000).toISOString(),
    to: new Date(input.toUs / 1000).toISOString(),
    ...{ asOf, order },
    rows: shown.map((row) => toLine(row, basisOf(input.metric, classOf(row.dims.endpoint)), row.calls.length)),
    next: found.length > limit && last !== undefined ? formatCursor(last) : null,
  };
}

/** The class of each endpoint of these rows: as stored, else guessed from the range. */
export async function classesFor(
  viewer: Viewer,
  input: Scope,
  rows: readonly Pick<TimedRequest, 'dims'>[],
): Promise<ClassOf> {
  const stored = await loadEndpointClasses(viewer.projectId);
  const endpoints = new Set(rows.map((row) => row.dims.endpoint));
  if ([...endpoints].every((endpoint) => stored.has(endpoint)))
    return (endpoint) => stored.get(endpoint) ?? 'interactive';
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const classes = await withSnapshot(viewer.projectId, async (snapshot) =>
    classify(snapshot, { endpoints, stored, range, vantage: await chooseVantage(snapshot, input, range) }),
  );
  return (endpoint) => classes.get(endpoint) ?? 'interactive';
}

/** Rows after a key; one that the budget for raw reads does not allow is answered with words. */
export async function readPage(question: {
  viewer: Viewer;
  input: RequestsInput;
  after: RequestsInput['after'];
  limit: number;
}): Promise<TimedRequest[]> {
  const { viewer, input, after, limit } = question;
  const hint = 'Shorten the range, or name an endpoint.';
  return withinBudget(hint, () => readRequests({ filter: filterOf(viewer, input), order: input.order, after, limit }));
}

/** Answers a read of raw requests that goes beyond its budget with 503 and a hint. */
export async function withinBudget<T>(hint: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== 'over_budget') throw error;
    throw new AnswerError({ status: 503, code: 'over_budget', message: 'This range holds too many requests.', hint });
  }
}

function filterOf(viewer: Viewer, input: RequestsInput): RequestFilter {
  return {
    ...{ projectId: viewer.projectId, fromUs: input.fromUs, toUs: input.toUs, attributes: input.attributes },
    ...{ outcomes: input.outcome, sessionId: input.sessionId, traceId: input.traceId },
    dimensions: {
      endpoint: input.endpoint,
      client_region: input.clientRegion,
      service_region: input.serviceRegion,
      provider: input.provider,
      model: input.model,
      environment: input.environment,
      version: input.version,
      vantage: input.vantage === null ? [] : [input.vantage],
    },
    minE2eUs: input.minMs === null ? null : Math.round(input.minMs * 1000),
    maxE2eUs: input.maxMs === null ? null : Math.round(input.maxMs * 1000),
  };
}
