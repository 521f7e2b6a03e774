import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GET, PUT } from '@/app/api/v1/endpoint-classes/route';
import { hashKey } from '@/lib/auth/keys';
import type { Viewer } from '@/lib/core/viewer';
import { saveGuessedClasses } from '@/lib/db/endpointClasses';
import { flush } from '@/lib/db/flush';
import { pool } from '@/lib/db/pool';
import { loadEndpointClassList } from '@/lib/queries/loadEndpointClassList';
import { loadRequests } from '@/lib/queries/loadRequests';
import { parseRequests } from '@/lib/queries/parseRequests';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;

beforeAll(async () => {
  database = await createTestDatabase();
  const projectId = randomUUID();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'classes', 'Classes')`, [projectId]);
  for (const scope of ['read', 'manage'])
    await database.query(
      `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
       VALUES (gen_random_uuid(), $1, $2, $2, $3, 'iso', '{}')`,
      [projectId, scope, hashKey(`key_to_${scope}`)],
    );
  viewer = { projectId, projectSlug: 'classes', userId: null, keyId: 'k', role: 'owner' };
  const request = aRequest({ e2eUs: 900_000, ttftUs: 100_000, decodeUs: 800_000 });
  await flush({ requests: [{ projectId, request }], ledger: [] });
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const send = (scope: string, body: string) =>
  PUT(
    new Request('http://localhost/api/v1/endpoint-classes', {
      method: 'PUT',
      headers: { authorization: `Bearer key_to_${scope}` },
      body,
    }),
  );
const wait = async () => {
  const query = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
  return (await loadRequests({ viewer, input: parseRequests(new URLSearchParams(query)) })).rows[0]?.waitMs;
};
const one = (name: string | null) => JSON.stringify({ classes: [{ endpoint: '/v1/infer', class: name }] });

test('an endpoint that was sent is listed; a set class holds at the next read, over any guess, until it is freed', async () => {
  expect(await loadEndpointClassList({ viewer })).toMatchObject([{ endpoint: '/v1/infer', class: null, source: null }]);
  expect(await wait()).toBe(100); // guessed from the one request: it streams
  const answer = await send('manage', one('batch'));
  expect(await answer.json()).toMatchObject({ classes: [{ class: 'batch', source: 'set', wait: 'e2e' }] });
  expect(await wait()).toBe(900);
  await saveGuessedClasses(viewer.projectId, new Map([['/v1/infer', 'stream']]));
  expect(await wait()).toBe(900);
  await send('manage', one(null));
  expect(await loadEndpointClassList({ viewer })).toMatchObject([{ class: null, source: null }]);
  expect(await wait()).toBe(100);
  await saveGuessedClasses(viewer.projectId, new Map([['/v1/infer', 'stream']]));
  await send('manage', one(null)); // frees what was set, not what was guessed
  const read = await GET(
    new Request('http://localhost/api/v1/endpoint-classes', { headers: { authorization: 'Bearer key_to_read' } }),
  );
  expect(await read.json()).toMatchObject({ classes: [{ class: 'stream', source: 'guessed', wait: 'ttft' }] });
});

test('names the field that is wrong, and refuses who may not', async () => {
  const wrong = await send('manage', one('fast'));
  expect(wrong.status).toBe(400);
  expect(await wrong.json()).toMatchObject({ error: { message: expect.stringContaining('classes.0.class') } });
  expect((await send('manage', '{')).status).toBe(400);
  expect((await send('read', one('batch'))).status).toBe(403);
  const audited = await database.query(`SELECT 1 FROM audit_entry WHERE action = 'endpoint_classes.set'`);
  expect(audited).toHaveLength(3);
});
