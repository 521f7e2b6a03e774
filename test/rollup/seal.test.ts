import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import { pool } from '@/lib/db/pool';
import { listAllRaw, readRaw } from '@/lib/db/readRaw';
import { changeZones } from '@/lib/rollup/changeZones';
import { compactAll, rebuildProject } from '@/lib/rollup/rebuildProject';
import { repairCells } from '@/lib/rollup/repair';
import { sealProject } from '@/lib/rollup/seal';
import { createTestDatabase, type TestDatabase } from '../support/database';
import {
  fewHours,
  foldAll,
  newProject,
  sealAll,
  soonMs,
  store,
  storedRollups,
  viewedRequests,
  wholeRequests,
} from '../support/rollups';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const count = async (table: string, projectId: string) =>
  Number((await database.query(`SELECT count(*) AS n FROM ${table} WHERE project_id = $1`, [projectId]))[0]!.n);

async function allRaw(projectId: string): Promise<TimedRequest[]> {
  const chunks = await readRaw(pool(), projectId, { heads: await listAllRaw(pool(), projectId), withAttributes: true });
  return chunks.flatMap((chunk) => chunk.rows!.map((row) => row.request)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function allSealed(projectId: string): Promise<TimedRequest[]> {
  const heads = (await listAllRaw(pool(), projectId)).filter((head) => head.sealed);
  const chunks = await readRaw(pool(), projectId, { heads, withAttributes: true });
  return chunks.flatMap((chunk) => chunk.rows!.map((row) => row.request)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Repairs, compacts, and compares with a rebuild. */
async function expectEqualToRebuild(projectId: string): Promise<void> {
  while (await repairCells());
  await compactAll(projectId);
  const incremental = await storedRollups(database, projectId);
  await rebuildProject(projectId);
  expect(incremental.length).toBeGreaterThan(10);
  expect(incremental).toEqual(await storedRollups(database, projectId));
}

test.each(['uuid', 'text'] as const)(
  'a seal keeps every field of every request: view and codec (%s ids)',
  async (ids) => {
    const projectId = await newProject(database, `fields-${ids}`);
    const all = wholeRequests(1, 250, ids);
    await store(projectId, all, 90);
    await foldAll();
    const before = await viewedRequests(database, projectId);
    expect(before).toHaveLength(250);
    expect(await sealAll(projectId)).toBe(0);
    expect(await count('hot_chunk', projectId)).toBe(0);
    expect(await count('sealed_chunk', projectId)).toBeGreaterThan(20);
    expect(await viewedRequests(database, projectId)).toEqual(before);
    const sorted = [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(await allRaw(projectId)).toEqual(sorted);
    await expectEqualToRebuild(projectId);
  },
);

test('what is not over stays: pending chunks, hours that are not over, and the rest of a chunk', async () => {
  const projectId = await newProject(database, 'edge');
  const hourUs = Date.parse('2026-11-20T10:00:00Z') * 1_000;
  const [base] = wholeRequests(2, 1);
  const at = (id: string, minutes: number): TimedRequest => ({ ...base!, id, startedAtUs: hourUs + minutes * 60e6 });
  await store(projectId, [at('a', 5), at('b', 59), at('c', 61)]);
  const nowMs = hourUs / 1_000 + 75 * 60_000;
  await database.query('UPDATE hot_chunk SET received_at = $2 WHERE project_id = $1', [
    projectId,
    new Date(nowMs - 601_000),
  ]);
  expect((await sealProject(projectId, nowMs)).requests).toBe(0); // pending
  await foldAll();
  expect((await sealProject(projectId, nowMs - 400_000)).requests).toBe(0); // 10 minutes are not over
  expect((await sealProject(projectId, nowMs)).requests).toBe(2);
  expect(await count('pending', projectId)).toBe(0);
  const rows = await database.query(
    `SELECT id, EXISTS (SELECT FROM sealed_chunk s WHERE s.chunk_id = r.chunk_id) AS sealed
     FROM timed_request r WHERE project_id = $1 ORDER BY id`,
    [projectId],
  );
  expect(rows).toEqual([
    { id: 'a', sealed: true },
    { id: 'b', sealed: true },
    { id: 'c', sealed: false },
  ]);
  await expectEqualToRebuild(projectId);
});

test('an id that came twice, in other batches, is there once after the seal, in raw and in roll-ups', async () => {
  const projectId = await newProject(database, 'twice');
  const all = fewHours(3, 300);
  await store(projectId, all, 50);
  await store(projectId, all.slice(20, 90), 30);
  await foldAll();
  expect(await viewedRequests(database, projectId)).toHaveLength(370);
  expect(await sealAll(projectId)).toBe(70);
  expect(await allRaw(projectId)).toEqual([...all].sort((a, b) => (a.id < b.id ? -1 : 1)));
  // once more, after the seal: they meet sealed chunks
  await store(projectId, all.slice(100, 110));
  await foldAll();
  expect(await sealAll(projectId)).toBe(10);
  expect(await viewedRequests(database, projectId)).toHaveLength(300);
  await expectEqualToRebuild(projectId);
});

test('late data seals its hour again', async () => {
  const projectId = await newProject(database, 'late');
  const [early, late] = [fewHours(4, 300), fewHours(5, 30)];
  await store(projectId, early);
  await foldAll();
  await sealAll(projectId);
  await store(projectId, late);
  await foldAll();
  await sealAll(projectId);
  expect(await count('hot_chunk', projectId)).toBe(0);
  expect(await allRaw(projectId)).toEqual([...early, ...late].sort((a, b) => (a.id < b.id ? -1 : 1)));
  await expectEqualToRebuild(projectId);
});

test('several sealers, folders and killed connections beside each other: every request once', async () => {
  const projectId = await newProject(database, 'crowd');
  const all = fewHours(6, 600);
  await store(projectId, all, 20);
  await store(projectId, all.slice(0, 100), 20);
  let running = true;
  let killed = 0;
  const killer = (async () => {
    while (running) {
      const ended = await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
           AND query ILIKE ANY ('{%sealed_chunk%,%hot_chunk%,%rollup%,%pending%}') LIMIT 1`,
      );
      killed += ended.length;
      await new Promise((resolve) => setTimeout(resolve, ended.length > 0 ? 40 : 1));
    }
  })();
  const worker = async () => {
    for (let i = 0; i < 25; i++) {
      await foldAll().catch(() => {});
      await sealProject(projectId, soonMs()).catch(() => {});
    }
  };
  await Promise.all([worker(), worker()]);
  running = false;
  await killer;
  expect(killed).toBeGreaterThan(0);
  await foldAll();
  await sealAll(projectId);
  expect(await count('hot_chunk', projectId)).toBe(0);
  expect(await allRaw(projectId)).toEqual([...all].sort((a, b) => (a.id < b.id ? -1 : 1)));
  await expectEqualToRebuild(projectId);
});

test('of a chunk that cannot be read only the bad rows go to quarantine; the others are sealed', async () => {
  const projectId = await newProject(database, 'unreadable');
  const all = fewHours(7, 60);
  await store(projectId, all);
  await foldAll();
  const [chunk] = await database.query<{ chunk_id: string; bad: string[] }>(
    `UPDATE hot_chunk SET series[3] = 1, series[4] = 1 WHERE (day, chunk_id) IN
       (SELECT day, chunk_id FROM hot_chunk WHERE project_id = $1 AND n > 8 LIMIT 1)
     RETURNING chunk_id, ids[3:4] AS bad`,
    [projectId],
  );
  for (let i = 0; i < 4; i++) await sealAll(projectId);
  const left = await database.query<{ ids: string[] }>('SELECT ids FROM hot_chunk WHERE project_id = $1', [projectId]);
  expect(left.map((row) => row.ids)).toEqual([chunk!.bad]);
  expect(await count('quarantine', projectId)).toBe(1);
  expect(await allSealed(projectId)).toEqual(
    [...all].filter((r) => !chunk!.bad.includes(r.id)).sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
});

test('of a chunk that cannot be folded three times only the bad row is left out, with its calls', async () => {
  const projectId = await newProject(database, 'bisected');
  const all = fewHours(8, 80);
  await store(projectId, all);
  const [chunk] = await database.query<{ bad: string }>(
    `UPDATE hot_chunk SET series[7] = 1 WHERE (day, chunk_id) IN
       (SELECT day, chunk_id FROM hot_chunk WHERE project_id = $1 AND n > 8 LIMIT 1) RETURNING ids[7] AS bad`,
    [projectId],
  );
  for (let i = 0; i < 6; i++) await foldAll();
  expect(await count('pending', projectId)).toBe(0);
  expect(await count('quarantine', projectId)).toBe(1);
  const good = [...all].filter((r) => r.id !== chunk!.bad).sort((a, b) => (a.id < b.id ? -1 : 1));
  await sealAll(projectId);
  expect(await allSealed(projectId)).toEqual(good);
  await expectEqualToRebuild(projectId);
  // once it can be folded, a rebuild brings it back
  const [like] = await database.query<{ series: string[] }>(
    'SELECT series::text[] FROM hot_chunk WHERE project_id = $1',
    [projectId],
  );
  expect(like!.series).toEqual(['1']);
  const [other] = await database.query<{ id: string }>('SELECT series_id AS id FROM series WHERE project_id = $1', [
    projectId,
  ]);
  await database.query('UPDATE hot_chunk SET series = ARRAY[$2::bigint] WHERE project_id = $1', [projectId, other!.id]);
  await rebuildProject(projectId);
  expect(await count('quarantine', projectId)).toBe(0);
});

test('another zone: roll-ups are as if it had always been that, whatever is sealed', async () => {
  const projectId = await newProject(database, 'zone', 'Asia/Kathmandu');
  const berlin = await newProject(database, 'zone-berlin', 'Europe/Berlin');
  const all = fewHours(9, 200);
  for (const id of [projectId, berlin]) await store(id, all, 70);
  await foldAll();
  await sealAll(projectId);
  await store(projectId, fewHours(10, 20));
  await store(berlin, fewHours(10, 20));
  await database.query(`UPDATE project SET wanted_time_zone = 'Europe/Berlin' WHERE id = $1`, [projectId]);
  await changeZones();
  await foldAll();
  await compactAll(berlin);
  await compactAll(projectId);
  const stored = await storedRollups(database, projectId);
  expect(stored.length).toBeGreaterThan(100);
  expect(stored).toEqual(await storedRollups(database, berlin));
});
