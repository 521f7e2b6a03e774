import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeCell, formatKey } from '@/lib/core/cell';
import type { TimedRequest } from '@/lib/core/request';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { withSnapshot } from '@/lib/db/snapshot';
import { foldPending } from '@/lib/rollup/foldPending';
import { guessClassesOf } from '@/lib/rollup/guessClasses';
import { compactAll, rebuildProject } from '@/lib/rollup/rebuildProject';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { anyRequest, aRequest } from '../support/requests';

let database: TestDatabase;
const range = { fromUs: Date.parse('2026-11-19T00:00:00Z') * 1000, toUs: Date.parse('2026-11-24T00:00:00Z') * 1000 };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const requests = (seed: number, n: number): TimedRequest[] =>
  fc.sample(anyRequest, { seed, numRuns: n }).map((r, i) => ({ ...r, id: `${seed}-${i}` }));

async function newProject(slug: string): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO project (id, slug, name, time_zone) VALUES (gen_random_uuid(), $1, $1, 'Asia/Kathmandu') RETURNING id`,
    [slug],
  );
  return row!.id;
}

async function store(projectId: string, some: TimedRequest[]): Promise<void> {
  await ensurePartitions(new Set(some.map((r) => utcDay(r.startedAtUs))));
  await flush({ requests: some.map((request) => ({ projectId, request })), ledger: [] });
}

const stored = (projectId: string) =>
  database.query(
    `SELECT grouping, tier, family, period, block, first_cell, last_cell, encode(body, 'hex') AS body FROM rollup
     WHERE project_id = $1 ORDER BY 1, 2, 3, 4, 5`,
    [projectId],
  );

/** Every family of every cell, encoded; samples as the rows they give. */
function answer(projectId: string): Promise<Record<string, string>> {
  return withSnapshot(projectId, async (snapshot) => {
    const { periods } = await snapshot.read({
      ...{ grouping: 'endpointClientRegion', ...range, finest: 'hour' },
      families: ['counts', 'e2e', 'gapTtft', 'terms', 'anatomyE2e'],
    });
    const cells = (periods.get(0) ?? []).flatMap(({ key, set }) =>
      [...set].map(([f, cell]) => [`${f} ${formatKey(key)}`, Buffer.from(encodeCell(cell)).toString('hex')]),
    );
    const { samples } = await snapshot.readSamples({
      ...{ range: { ...range, finest: 'hour' }, basis: 'e2e', thin: false, mostRows: 100_000 },
      groupOf: formatKey,
    });
    const rows = [...samples].map(([key, { rows }]) => [key, JSON.stringify(rows.map((r) => r.id).sort())]);
    return Object.fromEntries([...cells, ...rows]);
  });
}

test('folded in any pieces, roll-ups and samples equal a rebuild byte for byte; reads are the same before and after', async () => {
  const projectId = await newProject('pieces');
  const all = requests(1, 600);
  for (let at = 0; at < all.length; at += 40) await store(projectId, all.slice(at, at + 40));
  const live = await answer(projectId);
  expect(Object.keys(live).length).toBeGreaterThan(10);
  for (let i = 0; i < 4; i++) await foldPending({ limit: 3 });
  expect(await answer(projectId)).toEqual(live);
  while ((await foldPending({ limit: 1 })).chunks > 0);
  expect(await answer(projectId)).toEqual(live);
  await compactAll(projectId);
  const incremental = await stored(projectId);
  expect(await answer(projectId)).toEqual(live);
  await rebuildProject(projectId);
  expect(await stored(projectId)).toEqual(incremental);
});

test('two workers side by side fold each chunk once', async () => {
  const projectId = await newProject('two');
  const all = requests(2, 200);
  for (let at = 0; at < all.length; at += 10) await store(projectId, all.slice(at, at + 10));
  const drain = async () => {
    let idle = 0;
    while (idle < 3) idle = (await foldPending({ limit: 2 })).chunks === 0 ? idle + 1 : 0;
  };
  await Promise.all([drain(), drain()]);
  await compactAll(projectId);
  const incremental = await stored(projectId);
  await rebuildProject(projectId);
  expect(await stored(projectId)).toEqual(incremental);
});

test('once folded, reads do not touch raw rows', async () => {
  const projectId = await newProject('revoked');
  await store(projectId, requests(3, 50));
  const before = await answer(projectId);
  await foldPending();
  await database.query('REVOKE SELECT ON hot_chunk, timed_request FROM isochrone');
  try {
    await expect(database.query('SELECT count(*) FROM hot_chunk')).rejects.toThrow(/permission denied/);
    expect(await answer(projectId)).toEqual(before);
  } finally {
    await database.query('GRANT SELECT ON hot_chunk, timed_request TO isochrone');
  }
});

test('a chunk that cannot be folded is quarantined and holds nobody up', async () => {
  const projectId = await newProject('poisoned');
  await store(projectId, requests(4, 20));
  await database.query('UPDATE hot_chunk SET series = array_fill(1::bigint, ARRAY[n]) WHERE project_id = $1', [
    projectId,
  ]);
  const bad = await database.query('SELECT chunk_id FROM pending WHERE project_id = $1', [projectId]);
  const good = requests(5, 20);
  await store(projectId, good);
  for (let i = 0; i < 4; i++) await foldPending();
  const quarantined = await database.query('SELECT chunk_id FROM quarantine WHERE project_id = $1', [projectId]);
  expect(quarantined.map((r) => r.chunk_id).sort()).toEqual(bad.map((r) => r.chunk_id).sort());
  expect(await database.query('SELECT 1 FROM pending WHERE project_id = $1', [projectId])).toHaveLength(0);
  expect((await stored(projectId)).length).toBeGreaterThan(0);
  await compactAll(projectId);
  const before = await stored(projectId);
  await rebuildProject(projectId);
  expect(await stored(projectId)).toEqual(before);
  expect(await database.query('SELECT 1 FROM quarantine WHERE project_id = $1', [projectId])).toHaveLength(bad.length);
});

/** Ends once some statement of this database waits for a lock. */
async function untilSomethingWaits(): Promise<void> {
  const waiting = () =>
    database.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
  await expect.poll(waiting, { timeout: 20_000, interval: 50 }).toHaveLength(1);
}

test('a chunk that arrives in the middle of a rebuild is counted once', async () => {
  const projectId = await newProject('during');
  await store(projectId, requests(6, 10));
  const holder = await pool().connect();
  await holder.query('BEGIN');
  await holder.query('SELECT 1 FROM pending WHERE project_id = $1 FOR UPDATE', [projectId]);
  const rebuilding = rebuildProject(projectId);
  await untilSomethingWaits();
  await store(projectId, requests(7, 10));
  await holder.query('COMMIT');
  holder.release();
  await rebuilding;
  expect((await foldPending()).requests).toBe(10);
  await compactAll(projectId);
  const incremental = await stored(projectId);
  await rebuildProject(projectId);
  expect(await stored(projectId)).toEqual(incremental);
});

test('a database error is not a chunk’s fault: nothing is quarantined', async () => {
  const projectId = await newProject('away');
  await store(projectId, requests(8, 10));
  await database.query('REVOKE INSERT ON rollup FROM isochrone');
  try {
    for (let i = 0; i < 4; i++) await expect(foldPending()).rejects.toThrow(/permission denied/);
  } finally {
    await database.query('GRANT INSERT ON rollup TO isochrone');
  }
  expect(await database.query('SELECT 1 FROM quarantine WHERE project_id = $1', [projectId])).toHaveLength(0);
  expect((await foldPending()).requests).toBe(10);
});

test('classes are guessed from the last week; one that was set stays', async () => {
  const projectId = await newProject('classes');
  const some = (endpoint: string, ttftUs: number | null) =>
    Array.from({ length: 120 }, (_, i) =>
      aRequest({ id: `${endpoint}${i}`, ttftUs, dims: { ...aRequest().dims, endpoint } }),
    );
  await store(projectId, [...some('/stream', 90_000), ...some('/plain', null), ...some('/set', null)]);
  await database.query(`INSERT INTO endpoint_class VALUES ($1, '/set', 'voice', 'set', now())`, [projectId]);
  await guessClassesOf(projectId, Date.parse('2026-11-21T00:00:00Z'));
  const classes = await database.query('SELECT endpoint, class FROM endpoint_class WHERE project_id = $1 ORDER BY 1', [
    projectId,
  ]);
  expect(classes.map((row) => `${row.endpoint} ${row.class}`)).toEqual([
    '/plain interactive',
    '/set voice',
    '/stream stream',
  ]);
});
