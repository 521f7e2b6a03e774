import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAMILIES, type Family } from '@/lib/core/cell';
import { listPartitions } from '@/lib/db/dropPartitions';
import { flush } from '@/lib/db/flush';
import { addDays, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { applyRetention, dropOldPartitions } from '@/lib/rollup/keepPartitions';
import { rebuildProject } from '@/lib/rollup/rebuildProject';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';
import { foldAll, newProject, sealAll, store, storedRollups } from '../support/rollups';

let database: TestDatabase;
const DAY_MS = 86_400_000;
const nowMs = Date.now();
const today = utcDay(nowMs * 1_000);

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const aged = (id: string, days: number) => aRequest({ id, startedAtUs: (nowMs - days * DAY_MS) * 1_000 });
const daysOf = async (table: string) =>
  (await listPartitions()).flatMap((p) => (p.table === table ? [p.day] : [])).sort();
const rawIds = async (projectId: string) =>
  (await database.query('SELECT id FROM timed_request WHERE project_id = $1 ORDER BY id', [projectId])).map(
    (r) => r.id,
  );

test('no INSERT waits while partitions leave, even when a long read holds them; the drop goes on later', async () => {
  const projectId = await newProject(database, 'waits', 'UTC');
  await store(projectId, [aged('old', 50), aged('kept', 30)]);
  const reader = await pool().connect();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM hot_chunk');
  let dropping = true;
  const drop = dropOldPartitions(nowMs).finally(() => {
    dropping = false;
  });
  const waits: number[] = [];
  for (let i = 0; dropping || i < 20; i++) {
    const startedMs = performance.now();
    await flush({ requests: [{ projectId, request: aged(`during-${i}`, i % 3) }], ledger: [] });
    waits.push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await drop).not.toContain(`hot_chunk_${addDays(today, -50).replaceAll('-', '')}`);
  expect(waits.length).toBeGreaterThan(50); // it tried for seconds
  expect(Math.max(...waits)).toBeLessThan(1_000);
  await reader.query('ROLLBACK');
  reader.release();
  await dropOldPartitions(nowMs);
  expect(await daysOf('hot_chunk')).not.toContain(addDays(today, -50));
  expect(await daysOf('hot_chunk')).toContain(addDays(today, -30));
  expect(await rawIds(projectId)).not.toContain('old');
  // a late event of a day whose partition is gone makes it anew
  await flush({ requests: [{ projectId, request: aged('late', 50) }], ledger: [] });
  expect(await rawIds(projectId)).toContain('late');
});

test('the ledger keeps posts of the last 24 hours, whatever day they are of', async () => {
  const projectId = await newProject(database, 'ledger');
  const entry = (day: string, key: string) => ({ projectId, day, key: key.padStart(64, '0') });
  const [recent, past] = [addDays(today, -20), addDays(today, -25)];
  await flush({ requests: [{ projectId, request: aged('a', 20) }], ledger: [entry(recent, '1')] });
  await flush({ requests: [{ projectId, request: aged('b', 25) }], ledger: [entry(past, '2')] });
  await database.query(`UPDATE ledger SET received_at = now() - interval '25 hours' WHERE day = $1`, [past]);
  await dropOldPartitions(nowMs);
  expect(await daysOf('ledger')).toContain(recent);
  expect(await daysOf('ledger')).not.toContain(past);
});

test('each project keeps what it says: raw by day, roll-ups by tier; a rebuild leaves older roll-ups alone', async () => {
  const [long, short] = [await newProject(database, 'long', 'UTC'), await newProject(database, 'short', 'UTC')];
  const ages = [1, 7, 20];
  for (const projectId of [long, short]) {
    await store(
      projectId,
      ages.map((days) => aged(`age-${String(days).padStart(2, '0')}`, days)),
    );
    await foldAll();
    await sealAll(projectId);
  }
  await database.query(
    'UPDATE project SET raw_days = 5, five_minute_days = 3, hour_days = 10, day_days = 90 WHERE id = $1',
    [short],
  );
  await applyRetention(nowMs);
  expect(await rawIds(long)).toEqual(['age-01', 'age-07', 'age-20']);
  expect(await rawIds(short)).toEqual(['age-01']);
  const kept = async (projectId: string, family: Family = 'counts') =>
    database.query(
      `SELECT tier, count(DISTINCT period)::integer AS periods FROM rollup
       WHERE project_id = $1 AND family = $2 GROUP BY 1 ORDER BY 1`,
      [projectId, FAMILIES.indexOf(family)],
    );
  expect((await kept(short)).map((row) => row.periods)).toEqual([1, 2, 3]);
  expect((await kept(long)).map((row) => row.periods)).toEqual([2, 3, 3]);
  expect((await kept(long, 'sampleE2e')).map((row) => row.periods)).toEqual([1, 3]); // of hours: six days
  const before = await storedRollups(database, short);
  await rebuildProject(short);
  const after = await storedRollups(database, short);
  expect(after.filter((row) => Number(row.tier) > 0)).toEqual(before.filter((row) => Number(row.tier) > 0));
});
