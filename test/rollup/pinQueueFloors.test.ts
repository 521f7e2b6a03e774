import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { loadBreakdown } from '@/lib/queries/loadBreakdown';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { pinQueueFloorsOf } from '@/lib/rollup/pinQueueFloors';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
const DAY_MS = 86_400_000;
const today = Date.parse('2026-11-20T00:00:00Z');
const QUEUE = MEASURED_TERMS.indexOf('queue');

/** 300 requests of one day; a tenth of them waits `leastMs` in the queue, the rest longer. */
const dayOf = (dayMs: number, leastMs: number): TimedRequest[] =>
  Array.from({ length: 300 }, (_, i) => {
    const queueUs = (leastMs + (i < 30 ? 0 : 50 + i)) * 1000;
    return aRequest({
      ...{ id: `q-${dayMs}-${i}`, startedAtUs: (dayMs + 3_600_000 + i * 1000) * 1000, e2eUs: 100_000 + queueUs },
      terms: MEASURED_TERMS.map((_term, at) => (at === QUEUE ? queueUs : null)),
    });
  });

async function store(requests: TimedRequest[]): Promise<void> {
  await ensurePartitions(new Set(requests.map((r) => utcDay(r.startedAtUs))));
  await flush({ requests: requests.map((request) => ({ projectId: viewer.projectId, request })), ledger: [] });
  while ((await foldPending()).chunks > 0);
}

async function floorOfToday() {
  const query = new URLSearchParams({
    endpoint: '/v1/infer',
    from: '2026-11-20T00:00:00Z',
    to: '2026-11-21T00:00:00Z',
  });
  return (await loadBreakdown({ viewer, input: parseScope(query) })).floors.queue;
}

beforeAll(async () => {
  database = await createTestDatabase();
  const projectId = '0197a000-0000-7000-8000-00000000000a';
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'pins', 'Pins')`, [projectId]);
  viewer = { projectId, projectSlug: 'pins', userId: null, keyId: 'test', role: 'reader' };
  for (const daysAgo of [1, 2, 3]) await store(dayOf(today - daysAgo * DAY_MS, 10));
  await store(dayOf(today, 400));
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

it('the floor is that of the requests in view until one is pinned', async () => {
  const floor = await floorOfToday();
  expect(floor).toMatchObject({ kind: 'relative', ms: 400 });
  expect(floor.source).toMatch(/in view/);
});

it('pinned: the p10 of the 7 days before, whatever today is like, and it stays through the day', async () => {
  await pinQueueFloorsOf(viewer.projectId, today + 3_600_000);
  const floor = await floorOfToday();
  expect(floor.source).toMatch(/7 days before 2026-11-20/);
  expect(Math.abs(floor.ms! / 10 - 1)).toBeLessThan(0.006);
  await store(dayOf(today - 4 * DAY_MS, 1));
  await pinQueueFloorsOf(viewer.projectId, today + 7_200_000);
  expect(await floorOfToday()).toEqual(floor);
  await pinQueueFloorsOf(viewer.projectId, today + DAY_MS);
  expect((await floorOfToday()).source).toMatch(/7 days before 2026-11-21/);
});
