import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import type { RequestFilter } from '@/lib/core/requestFilter';
import { pool } from '@/lib/db/pool';
import { InvalidCursorError, readRequest, readRequests } from '@/lib/db/readRequests';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { foldAll, newProject, sealAll, store, wholeRequests } from '../support/rollups';

// Half of the data is sealed, half is not; what is read is compared with a plain filter and sort of the same requests.
let database: TestDatabase;
let projectId: string;
const fromUs = Date.parse('2026-11-20T12:30:00Z') * 1_000;
const toUs = Date.parse('2026-11-22T05:17:00Z') * 1_000;
let all: TimedRequest[];

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await newProject(database, 'reads');
  const sealed = wholeRequests(1, 900).map((r, i) => (i % 5 === 0 ? { ...r, e2eUs: 30_000_000, ttftUs: null } : r));
  const hot = wholeRequests(2, 400, 'text').map((r, i) => (i % 9 === 0 ? { ...r, e2eUs: 30_000_000, ttftUs: null } : r));
  await store(projectId, sealed, 100);
  await foldAll();
  await sealAll(projectId);
  await store(projectId, hot, 60);
  all = [...sealed, ...hot];
  const other = await newProject(database, 'other');
  await store(other, wholeRequests(3, 50));
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

type Test = (r: TimedRequest) => boolean;
const valueOf = { e2e: (r: TimedRequest) => r.e2eUs, ttft: (r: TimedRequest) => r.ttftUs };

function expected(order: 'slowest' | 'newest', basis: 'e2e' | 'ttft', test: Test): TimedRequest[] {
  const value = order === 'newest' ? (r: TimedRequest) => r.startedAtUs : valueOf[basis];
  return all
    .filter((r) => r.startedAtUs >= fromUs && r.startedAtUs < toUs && value(r) !== null && test(r))
    .sort((a, b) => value(b)! - value(a)! || a.startedAtUs - b.startedAtUs || (a.id < b.id ? -1 : 1));
}

async function everyPage(question: { order: 'slowest' | 'newest'; basis?: 'ttft'; filter?: RequestFilter }) {
  const pages: TimedRequest[] = [];
  let cursor: string | null = null;
  do {
    const answer = await readRequests({ projectId, fromUs, toUs, limit: 37, cursor, ...question });
    expect(answer.complete).toBe(true);
    pages.push(...answer.requests);
    cursor = answer.nextCursor;
  } while (cursor !== null);
  return pages;
}

const FILTERS: [string, RequestFilter, Test][] = [
  ['nothing', {}, () => true],
  ['an endpoint', { endpoint: ['/v1/a'] }, (r) => r.dims.endpoint === '/v1/a'],
  ['a region that is not told', { clientRegion: [null, 'us-east-1'] }, (r) => r.dims.clientRegion !== 'eu-west-2'],
  ['outcomes', { outcome: ['error', 'timeout'] }, (r) => r.outcome === 'error' || r.outcome === 'timeout'],
  [
    'attributes',
    { attributes: { tenant: 'a', käse: 'b' } },
    (r) => r.attributes?.tenant === 'a' && r.attributes.käse === 'b',
  ],
  ['a session', { sessionId: 's,2' }, (r) => r.sessionId === 's,2'],
  [
    'a trace within an endpoint',
    { endpoint: ['/v1/b'], traceId: '0af7651916cd43dd8448eb211c80319c' },
    (r) => r.dims.endpoint === '/v1/b' && r.traceId === '0af7651916cd43dd8448eb211c80319c',
  ],
  [
    'a box of durations',
    { minE2eUs: 5_000_000, maxE2eUs: 9_000_000, minTtftUs: 4_000_000 },
    (r) => r.e2eUs >= 5_000_000 && r.e2eUs < 9_000_000 && r.ttftUs !== null && r.ttftUs >= 4_000_000,
  ],
];

describe.each(FILTERS)('filtered by %s', (_, filter, test) => {
  it('slowest first', async () => {
    expect(await everyPage({ order: 'slowest', filter })).toEqual(expected('slowest', 'e2e', test));
  });
  it('newest first', async () => {
    expect(await everyPage({ order: 'newest', filter })).toEqual(expected('newest', 'e2e', test));
  });
  it('slowest by ttft', async () => {
    const slowest = await everyPage({ order: 'slowest', basis: 'ttft', filter });
    expect(slowest).toEqual(expected('slowest', 'ttft', test));
  });
});

it('many requests that took equally long are paged without loss', () => {
  expect(all.filter((r) => r.e2eUs === 30_000_000).length).toBeGreaterThan(150);
});

it('values nobody has, another project’s data and an empty range give nothing', async () => {
  const none = { requests: [], nextCursor: null, examined: 0, complete: true };
  const question = { projectId, fromUs, toUs, order: 'slowest', limit: 10 } as const;
  expect(await readRequests({ ...question, filter: { endpoint: ['/nobody'] } })).toEqual(none);
  expect(await readRequests({ ...question, filter: { attributes: { tenant: 'nobody' } } })).toEqual(none);
  expect((await readRequests({ ...question, toUs: fromUs + 1 })).requests).toEqual([]);
});

it('a cursor that is none is refused', async () => {
  const question = { projectId, fromUs, toUs, order: 'slowest', limit: 10, cursor: 'bm9uZQ' } as const;
  await expect(readRequests(question)).rejects.toThrow(InvalidCursorError);
});

it('says so when the budget ran out', async () => {
  const question = { projectId, fromUs, toUs, order: 'slowest', limit: 10 } as const;
  const answer = await readRequests({ ...question, filter: { sessionId: 'nobody' }, budget: { ms: 0, requests: 1 } });
  expect(answer.complete).toBe(false);
});

it('finds one request by its id, sealed or not, and only in its own time and project', async () => {
  for (const request of [all[0]!, all[500]!, all[899]!, all[900]!, all[1299]!]) {
    const hour = { fromUs: request.startedAtUs - 1_800e6, toUs: request.startedAtUs + 1_800e6 };
    expect(await readRequest({ projectId, id: request.id, ...hour })).toEqual(request);
    const later = { fromUs: request.startedAtUs + 1, toUs: request.startedAtUs + 3_600e6 };
    expect(await readRequest({ projectId, id: request.id, ...later })).toBeNull();
  }
});
