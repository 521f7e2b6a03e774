import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import { locate } from '@/lib/db/locate';
import { pool } from '@/lib/db/pool';
import {
  OverBudgetError,
  type RequestFilter,
  type RequestOrder,
  readRequestById,
  readRequests,
  timeOfId,
} from '@/lib/db/readRequests';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { foldAll, newProject, sealAll, store, wholeRequests } from '../support/rollups';

// Half of the data is sealed, half is not; what is read is compared with a plain filter and sort of the same requests.
let database: TestDatabase;
let projectId: string;
let otherId: string;
const fromUs = Date.parse('2026-11-20T12:30:00Z') * 1_000;
const toUs = Date.parse('2026-11-22T05:17:00Z') * 1_000;
let all: TimedRequest[];

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await newProject(database, 'reads');
  const sealed = wholeRequests(1, 900).map((r, i) =>
    i % 5 === 0 ? { ...r, e2eUs: 30_000_000, ttftUs: null, decodeUs: null } : r,
  );
  const hot = wholeRequests(2, 400, 'text').map((r, i) =>
    i % 9 === 0 ? { ...r, e2eUs: 30_000_000, ttftUs: null, decodeUs: null } : r,
  );
  await store(projectId, sealed, 100);
  await foldAll();
  await sealAll(projectId);
  await store(projectId, hot, 60);
  all = [...sealed, ...hot];
  otherId = await newProject(database, 'other');
  await store(otherId, wholeRequests(3, 50));
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

type Test = (r: TimedRequest) => boolean;
type Given = Partial<RequestFilter>;
const ANY = { dimensions: {}, outcomes: [], attributes: {}, sessionId: null, traceId: null, minE2eUs: null };
const filterOf = (given: Given): RequestFilter => ({ projectId, fromUs, toUs, ...ANY, maxE2eUs: null, ...given });

function expected(order: RequestOrder, test: Test): TimedRequest[] {
  const sign = order === 'oldest' ? -1 : 1;
  const value = order === 'slowest' ? (r: TimedRequest) => r.e2eUs : () => 0;
  return all
    .filter((r) => r.startedAtUs >= fromUs && r.startedAtUs < toUs && test(r))
    .sort((a, b) => value(b) - value(a) || sign * (b.startedAtUs - a.startedAtUs) || (a.id < b.id ? sign : -sign));
}

async function everyPage(order: RequestOrder, given: Given): Promise<TimedRequest[]> {
  const found: TimedRequest[] = [];
  for (;;) {
    const page = await readRequests({ filter: filterOf(given), order, after: found.at(-1) ?? null, limit: 37 });
    found.push(...page);
    if (page.length < 37) return found;
  }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const FILTERS: [string, Given, Test][] = [
  ['nothing', {}, () => true],
  ['an endpoint', { dimensions: { endpoint: ['/v1/a'] } }, (r) => r.dims.endpoint === '/v1/a'],
  ['a region', { dimensions: { client_region: ['us-east-1'] } }, (r) => r.dims.clientRegion === 'us-east-1'],
  ['outcomes', { outcomes: ['error', 'timeout'] }, (r) => r.outcome === 'error' || r.outcome === 'timeout'],
  [
    'attributes',
    { attributes: { tenant: 'a', käse: 'b' } },
    (r) => r.attributes?.tenant === 'a' && r.attributes.käse === 'b',
  ],
  ['a session', { sessionId: 's,2' }, (r) => r.sessionId === 's,2'],
  [
    'a trace within an endpoint',
    { dimensions: { endpoint: ['/v1/b'] }, traceId: TRACE },
    (r) => r.dims.endpoint === '/v1/b' && r.traceId === TRACE,
  ],
  [
    'a box of durations',
    { minE2eUs: 5_000_000, maxE2eUs: 9_000_000 },
    (r) => r.e2eUs >= 5_000_000 && r.e2eUs < 9_000_000,
  ],
];

describe.each(FILTERS)('filtered by %s', (_, filter, test) => {
  it.each(['slowest', 'newest', 'oldest'] as const)('%s first', async (order) => {
    const found = await everyPage(order, filter);
    expect(found.length).toBeGreaterThan(10);
    expect(found).toEqual(expected(order, test));
  });
});

it('many requests that took equally long are among them', () => {
  expect(all.filter((r) => r.e2eUs === 30_000_000).length).toBeGreaterThan(150);
});

it('values nobody has and an empty range give nothing', async () => {
  const ask = (given: Given) => readRequests({ filter: filterOf(given), order: 'slowest', after: null, limit: 10 });
  expect(await ask({ dimensions: { endpoint: ['/nobody'] } })).toEqual([]);
  expect(await ask({ attributes: { tenant: 'nobody' } })).toEqual([]);
  expect(await ask({ toUs: fromUs + 1 })).toEqual([]);
});

it('says so when the budget ran out', async () => {
  const question = { filter: filterOf({ sessionId: 'nobody' }), order: 'slowest', after: null, limit: 10 } as const;
  const small = readRequests({ ...question, budget: { ms: 60_000, requests: 1 } });
  await expect(small).rejects.toThrow(OverBudgetError);
});

it('finds one request by its id, sealed or not, with and without its time, and only in its project', async () => {
  for (const request of [all[0]!, all[500]!, all[899]!, all[900]!, all[1299]!]) {
    const { id, startedAtUs } = request;
    for (const aroundUs of [startedAtUs, startedAtUs + 60e6])
      expect(await readRequestById(projectId, { id, aroundUs })).toEqual(request);
    expect(
      await locate(pool(), projectId, { id, traceId: null, fromUs: startedAtUs, toUs: startedAtUs + 1 }),
    ).toHaveLength(1);
    expect(await readRequestById(projectId, { id, aroundUs: null })).toEqual(request);
    expect(await readRequestById(projectId, { id, aroundUs: startedAtUs + 7 * 86_400e6 })).toBeNull();
    expect(await readRequestById(otherId, { id, aroundUs: null })).toBeNull();
  }
});

it('reads the time in a UUIDv7', () => {
  expect(timeOfId('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(1_645_557_742_000_000);
  expect(timeOfId('017f22e2-79b0-4cc3-98c4-dc0c0c07398f')).toBeNull();
});
