import { afterAll, beforeAll, expect, test } from 'vitest';
import { POST as MARK, GET as MARKERS } from '@/app/api/v1/markers/route';
import { POST as OUTCOMES } from '@/app/api/v1/outcomes/route';
import { hashKey } from '@/lib/auth/keys';
import { writeCounts } from '@/lib/db/counts';
import { eraseProject } from '@/lib/db/eraseProject';
import { pool } from '@/lib/db/pool';
import { readRequestById } from '@/lib/db/readRequests';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';
import { foldAll, newProject, sealAll, store, wholeRequests } from '../support/rollups';

let database: TestDatabase;
let projectId: string;
const startedMs = Date.now() - 20 * 86_400_000;
const v7 = `${startedMs
  .toString(16)
  .padStart(12, '0')
  .replace(/^(.{8})/, '$1-')}-7cc3-98c4-dc0c0c07398f`;

async function addKey(id: string, scope: string, key: string): Promise<void> {
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES (gen_random_uuid(), $1, $2, $2, $3, 'iso', '{}')`,
    [id, scope, hashKey(key)],
  );
}

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await newProject(database, 'outcomes');
  const other = await newProject(database, 'other');
  for (const scope of ['ingest', 'read', 'manage']) await addKey(projectId, scope, `${scope}_one`);
  await addKey(other, 'ingest', 'ingest_two');
  const at = (id: string, offsetMs: number, traceId: string | null = null) =>
    aRequest({ id, traceId, startedAtUs: (startedMs + offsetMs) * 1_000 });
  await store(projectId, [at('a', 0), at('b', 90_000), at(v7, 40_000), at('d', 500, 'trace 1')]);
  await foldAll();
  await sealAll(projectId);
  await store(projectId, [at('e', 60_000)]);
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const send = (post: typeof OUTCOMES, key: string, body: unknown) =>
  post(
    new Request('http://localhost/api/v1/x', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );
const stored = (id: string) => readRequestById(projectId, { id, aroundUs: startedMs * 1_000 });

test('outcomes and quality told later reach the stored request, by id, trace, or the time in the id', async () => {
  const startedAt = new Date(startedMs).toISOString();
  const answer = await send(OUTCOMES, 'ingest_one', [
    { id: 'a', startedAt, quality: 0.25 },
    { id: 'b', startedAt: startedMs, outcome: 'error' },
    { id: v7, quality: 1 },
    { traceId: 'trace 1', startedAt, outcome: 'cancelled', quality: 0 },
    { id: 'e', startedAt, quality: 0.5 },
  ]);
  expect([answer.status, await answer.json()]).toEqual([200, { accepted: 5, rejected: [] }]);
  expect(await stored('a')).toMatchObject({ quality: 0.25, outcome: 'ok' });
  expect(await stored('b')).toMatchObject({ quality: null, outcome: 'error' });
  expect(await stored(v7)).toMatchObject({ quality: 1 });
  expect(await stored('d')).toMatchObject({ quality: 0, outcome: 'cancelled' });
  expect(await stored('e')).toMatchObject({ quality: 0.5 });
  const again = await send(OUTCOMES, 'ingest_one', [{ id: 'a', startedAt, quality: 0.25 }]);
  expect(await again.json()).toEqual({ accepted: 1, rejected: [] });
  await writeCounts();
  const [row] = await database.query(
    `SELECT sum(count)::integer AS n FROM ingest_count WHERE project_id = $1 AND kind = 'corrected'`,
    [projectId],
  );
  expect(row).toEqual({ n: 5 });
});

test('each that cannot be recorded says why, and the others are', async () => {
  const startedAt = new Date(startedMs).toISOString();
  const old = new Date(startedMs - 16 * 86_400_000).toISOString();
  const answer = await send(OUTCOMES, 'ingest_one', [
    { id: 'nobody', startedAt, quality: 1 },
    { id: 'a', quality: 1 },
    { id: 'a', startedAt: old, quality: 1 },
    { id: 'a', startedAt, quality: 2 },
    { id: 'a', startedAt },
    { startedAt, quality: 1 },
    null,
    { id: 'b', startedAt, quality: 0.75 },
  ]);
  const body = (await answer.json()) as { accepted: number; rejected: { index: number; path: string }[] };
  expect(body.accepted).toBe(1);
  expect(body.rejected.map(({ index, path }) => [index, path])).toEqual([
    ...[0, 1, 2, 3].map((index) => [index, ['id', 'startedAt', 'startedAt', 'quality'][index]]),
    ...[4, 5, 6].map((index) => [index, '']),
  ]);
  expect(await stored('b')).toMatchObject({ quality: 0.75, outcome: 'error' });
});

test('who may not, whose it is not, and what is no list', async () => {
  const startedAt = new Date(startedMs).toISOString();
  const foreign = await send(OUTCOMES, 'ingest_two', [{ id: 'a', startedAt, quality: 1 }]);
  expect(await foreign.json()).toMatchObject({ accepted: 0, rejected: [{ index: 0, path: 'id' }] });
  expect((await send(OUTCOMES, 'read_one', [])).status).toBe(403);
  expect((await send(OUTCOMES, 'ingest_one', '{"a"')).status).toBe(400);
  expect((await send(OUTCOMES, 'ingest_one', {})).status).toBe(400);
  expect((await send(OUTCOMES, 'ingest_one', Array(1_001).fill({}))).status).toBe(400);
});

test('markers are added with a manage key and read in order of their time', async () => {
  const mark = (body: unknown, key = 'manage_one') => send(MARK, key, body);
  expect((await mark({ at: '2026-11-20T10:00:00Z', label: 'Release 4.2', version: '4.2' })).status).toBe(200);
  expect((await mark({ at: Date.parse('2026-11-19T10:00:00Z'), label: 'Queue moved', kind: 'config' })).status).toBe(
    200,
  );
  expect((await mark({ at: 'yesterday', label: 'x' })).status).toBe(400);
  expect((await mark({ at: 0, label: 'x', colour: 'red' })).status).toBe(400);
  expect((await mark({ at: 0, label: 'x' }, 'ingest_one')).status).toBe(403);
  const url = 'http://localhost/api/v1/markers?from=2026-11-19T00:00:00Z&to=2026-11-20T10:00:01Z';
  const answer = await MARKERS(new Request(url, { headers: { authorization: 'Bearer read_one' } }));
  expect(await answer.json()).toMatchObject({
    markers: [
      { at: '2026-11-19T10:00:00.000Z', label: 'Queue moved', version: null, kind: 'config' },
      { at: '2026-11-20T10:00:00.000Z', label: 'Release 4.2', version: '4.2', kind: 'deploy' },
    ],
  });
});

test('a project that is removed leaves nothing in any table', async () => {
  const gone = await newProject(database, 'gone');
  await addKey(gone, 'manage', 'manage_gone');
  await store(gone, wholeRequests(1, 60));
  await foldAll();
  await sealAll(gone);
  await store(gone, wholeRequests(1, 5));
  await send(MARK, 'manage_gone', { at: 0, label: 'x' });
  await eraseProject(gone);
  const tables = await database.query<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
     WHERE c.column_name = 'project_id' AND t.table_type = 'BASE TABLE' AND t.table_schema = 'public'
       AND c.table_name <> 'audit_entry'`,
  );
  expect(tables.length).toBeGreaterThan(15);
  for (const { name } of tables) {
    expect([name, await database.query(`SELECT 1 FROM ${name} WHERE project_id = $1 LIMIT 1`, [gone])]).toEqual([
      name,
      [],
    ]);
  }
});
