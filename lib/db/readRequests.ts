// Raw requests in order, without reading all of them: for Requests and its export, a page at a time.
//
// Sealed chunks are sorted by (endpoint, e2e descending) and carry their extremes. So the walk takes chunks in the order
// of their maxima, looks at the columns that decide, and ends as soon as the k-th request found is beyond the next
// chunk's maximum. What is not sealed yet is searched by SQL. Only the requests that are returned are unpacked whole.
// Everything is read in one snapshot: the seal moves rows, and none may be seen twice or not at all.

import type { PoolClient } from 'pg';
import type { TimedRequest } from '../core/request';
import { type Candidate, compareKeys, type Key, Top } from './candidates';
import { locate } from './locate';
import { pool } from './pool';
import { type RawPlace, readPlaces } from './rawRows';
import { type RequestFilter, resolveFilter } from './resolveFilter';
import { ORDERED_BY, type RequestOrder, searchHot } from './searchHot';
import { searchSealed } from './searchSealed';

export type { RequestFilter } from './resolveFilter';
export { REQUEST_ORDERS, type RequestOrder } from './searchHot';

/** Where a page ended: the last request's e2e (slowest only), start and id. */
export type RequestKey = { e2eUs: number; startedAtUs: number; id: string };

/** What a read of raw requests may cost. */
export type Budget = { ms: number; requests: number };
const BUDGET: Budget = { ms: 2_000, requests: 2_000_000 };

/** The read would have cost more than its budget. */
export class OverBudgetError extends Error {
  readonly code = 'over_budget';
}

/** SQLSTATE of a statement that was ended by its time limit. */
const CANCELLED = '57014';

type Question = {
  filter: RequestFilter;
  order: RequestOrder;
  after: RequestKey | null;
  limit: number;
  budget?: Budget;
};

/**
 * The next `limit` requests in the order asked for, after a key: slowest (by e2e), newest or oldest first. Equal ones
 * follow by start, then by id, in the same direction. Throws OverBudgetError.
 */
export async function readRequests(question: Question): Promise<TimedRequest[]> {
  const { filter, order, limit, budget = BUDGET } = question;
  const { column, sign } = ORDERED_BY[order];
  const keyOf = (request: RequestKey): Key => {
    const { id, startedAtUs, e2eUs } = request;
    return { value: sign * (column === 'e2e' ? e2eUs : startedAtUs), startedAtUs, id };
  };
  const after = question.after === null ? null : keyOf(question.after);
  const endMs = performance.now() + budget.ms;
  return inSnapshot(budget, async (client) => {
    const resolved = await resolveFilter(client, filter);
    if (resolved === null) return [];
    const top = new Top(limit, after);
    const { projectId, fromUs, toUs } = filter;
    const search = { projectId, fromUs, toUs, filter: resolved, order, after };
    const spent = { examined: 0, isOver: () => performance.now() > endMs };
    await searchHot(client, search, { top, spent, k: limit });
    const isWhole = await searchSealed(client, search, { top, spent, limit: budget.requests });
    if (!isWhole) throw new OverBudgetError(`more than ${budget.ms} ms or ${budget.requests} requests`);
    const found = await unpack(client, projectId, top.candidates());
    const forward = order === 'oldest';
    return found
      .map((request) => ({ request, key: keyOf(request) }))
      .filter(({ key }) => after === null || compareKeys(key, after, forward) > 0)
      .sort((a, b) => compareKeys(a.key, b.key, forward))
      .slice(0, limit)
      .map(({ request }) => request);
  });
}

async function unpack(
  client: PoolClient,
  projectId: string,
  places: readonly Pick<Candidate, 'place'>[],
): Promise<TimedRequest[]> {
  const requests = await readPlaces(
    client,
    projectId,
    places.map(({ place }) => place),
  );
  return requests.filter((request) => request !== undefined);
}

const HOUR_US = 3_600e6;
const DAY_US = 24 * HOUR_US;
const EVER = { fromUs: 0, toUs: Date.UTC(2200, 0) * 1_000 };
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/i;

/** The time (µs since the epoch) within a UUID of version 7; null for other ids. */
export function timeOfId(id: string): number | null {
  return UUID_V7.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1_000 : null;
}

/**
 * One request with its calls and attributes, or null. `aroundUs` (its start, µs since the epoch), else the time in a
 * UUIDv7, is searched first: that very moment, its hour, then its day and the ones beside it; then all that is kept. Of an id that was
 * stored twice the first counts. Throws OverBudgetError.
 */
export async function readRequestById(
  projectId: string,
  { id, aroundUs, budget = BUDGET }: { id: string; aroundUs: number | null; budget?: Budget },
): Promise<TimedRequest | null> {
  const hintUs = aroundUs ?? timeOfId(id);
  const within = (us: number) => ({ fromUs: hintUs! - us, toUs: hintUs! + us + 1 });
  const exact = aroundUs === null ? [] : [within(0)];
  const wide = aroundUs === null ? [EVER] : [];
  const ranges = hintUs === null ? [EVER] : [...exact, within(HOUR_US / 2), within(1.5 * DAY_US), ...wide];
  return inSnapshot(budget, async (client) => {
    let place: RawPlace | undefined;
    for (const range of ranges) {
      [place] = await locate(client, projectId, { id, traceId: null, ...range });
      if (place !== undefined) break;
    }
    if (place === undefined) return null;
    const [request] = await readPlaces(client, projectId, [place]);
    return request ?? null;
  });
}

async function inSnapshot<T>(budget: Budget, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(budget.ms))}`);
    return await work(client);
  } catch (error) {
    if ((error as { code?: string }).code === CANCELLED) throw new OverBudgetError(`more than ${budget.ms} ms`);
    throw error;
  } finally {
    await client.query('ROLLBACK').catch((lost: Error) => {
      broken = lost;
    });
    client.release(broken);
  }
}
