// Raw requests in order, the slowest or the newest first, without reading all of them.
//
// Sealed chunks are sorted by (endpoint, e2e descending) and carry their maximum. So the walk takes chunks in the order
// of their maxima, looks at the columns that decide, and ends as soon as the k-th request found is beyond the next
// chunk's maximum. What is not sealed yet is searched by SQL. Only the requests that are returned are unpacked whole.
// Everything is read in one snapshot: the seal moves rows, and one must not be seen twice or not at all.

import type { PoolClient } from 'pg';
import type { TimedRequest } from '../core/request';
import type { RequestFilter } from '../core/requestFilter';
import { type Candidate, compareKeys, type Found, type Key, Top } from './candidates';
import { locate } from './locate';
import { pool } from './pool';
import { readPlaces } from './rawRows';
import { resolveFilter } from './resolveFilter';
import { searchHot } from './searchHot';
import { searchSealed } from './searchSealed';

export type RequestOrder = 'slowest' | 'newest';

export type RequestsQuestion = {
  projectId: string;
  /** Half-open, µs since the epoch. */
  fromUs: number;
  toUs: number;
  /** `slowest` is by e2e, or by ttft on the ttft basis (requests without a first output are left out then). */
  order: RequestOrder;
  basis?: 'e2e' | 'ttft';
  limit: number;
  /** `nextCursor` of the page before. Throws InvalidCursorError when it is none. */
  cursor?: string | null;
  filter?: RequestFilter;
  budget?: Budget;
};

/** What a read may cost: beyond it the answer is what was found so far. */
export type Budget = { ms: number; requests: number };
const BUDGET: Budget = { ms: 2_000, requests: 2_000_000 };

export type RequestsAnswer = {
  requests: TimedRequest[];
  /** Null on the last page. */
  nextCursor: string | null;
  /** Requests that were looked at. */
  examined: number;
  /** False when the budget ran out before it was sure that nothing else belongs here. */
  complete: boolean;
};

export class InvalidCursorError extends Error {}

const EMPTY: RequestsAnswer = { requests: [], nextCursor: null, examined: 0, complete: true };

export async function readRequests(question: RequestsQuestion): Promise<RequestsAnswer> {
  const { filter = {}, budget = BUDGET } = question;
  const after = question.cursor ? parseCursor(question.cursor) : null;
  const startedMs = performance.now();
  return inSnapshot(async (client) => {
    const resolved = await resolveFilter(client, question.projectId, filter);
    if (resolved === null) return EMPTY;
    const top = new Top(question.limit + 1, after);
    const search = {
      ...{ projectId: question.projectId, fromUs: question.fromUs, toUs: question.toUs, filter: resolved, after },
      by: question.order === 'newest' ? ('startedAt' as const) : (question.basis ?? 'e2e'),
    };
    const spent = { examined: 0, isOver: () => performance.now() - startedMs > budget.ms };
    await searchHot(client, search, { top, spent, k: question.limit + 1 });
    const complete = await searchSealed(client, search, { top, spent, limit: budget.requests });
    const found = await unpack(client, question.projectId, top.candidates());
    const inOrder = found
      .filter(({ key }) => after === null || compareKeys(key, after) > 0)
      .sort((a, b) => compareKeys(a.key, b.key));
    const page = inOrder.slice(0, question.limit);
    return {
      requests: page.map((f) => f.request),
      nextCursor: inOrder.length > question.limit ? formatCursor(page.at(-1)!.key) : null,
      examined: spent.examined,
      complete,
    };
  });
}

async function unpack(client: PoolClient, projectId: string, candidates: readonly Candidate[]): Promise<Found[]> {
  const requests = await readPlaces(
    client,
    projectId,
    candidates.map((c) => c.place),
  );
  return candidates.flatMap((candidate, i) => {
    const request = requests[i];
    return request === undefined
      ? []
      : [{ request, key: { value: candidate.value, startedAtUs: candidate.startedAtUs, id: request.id } }];
  });
}

export type RequestQuestion = { projectId: string; id: string; fromUs: number; toUs: number };

/** The request with this id that began in [fromUs, toUs) (µs; an hour is a fast question); null when there is none. */
export async function readRequest(question: RequestQuestion): Promise<TimedRequest | null> {
  return inSnapshot(async (client) => {
    const [place] = await locate(client, question.projectId, { ...question, traceId: null });
    if (place === undefined) return null;
    const [request] = await readPlaces(client, question.projectId, [place]);
    return request ?? null;
  });
}

async function inSnapshot<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await work(client);
  } finally {
    await client.query('COMMIT').catch((lost: Error) => {
      broken = lost;
    });
    client.release(broken);
  }
}

function formatCursor({ value, startedAtUs, id }: Key): string {
  return Buffer.from(JSON.stringify([value, startedAtUs, id])).toString('base64url');
}

function parseCursor(text: string): Key {
  try {
    const [value, startedAtUs, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (Number.isSafeInteger(value) && Number.isSafeInteger(startedAtUs) && typeof id === 'string')
      return { value: value as number, startedAtUs: startedAtUs as number, id };
  } catch {
    // falls through: it is no cursor
  }
  throw new InvalidCursorError('not a cursor: take nextCursor of the page before');
}
