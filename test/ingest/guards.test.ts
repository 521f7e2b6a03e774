import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticateKey, hashKey } from '../../lib/auth/keys';
import { writeCounts } from '../../lib/db/counts';
import { pool } from '../../lib/db/pool';
import { forgetStored } from '../../lib/db/series';
import { createIngestHandler, prepareIngest } from '../../lib/ingest/handler';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let server: Server;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  process.env.SERIES_A_DAY = '20';
  process.env.KEY_EVENTS_A_SECOND = '300';
  const handle = createIngestHandler({ authenticate: authenticateKey });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/events`;
  await prepareIngest();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool().end();
  await database.drop();
});

async function newKey(): Promise<{ key: string; projectId: string }> {
  const projectId = randomUUID();
  const key = `test_${randomBytes(32).toString('hex')}`;
  await database.query(`INSERT INTO project (id, slug, name, time_zone) VALUES ($1, $2, 'p', 'UTC')`, [
    projectId,
    projectId,
  ]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, 'k', 'ingest', $3, 'test', '{}')`,
    [randomUUID(), projectId, hashKey(key)],
  );
  return { key, projectId };
}

async function post(key: string, body: unknown, headers: Record<string, string> = {}) {
  const raw = body instanceof Uint8Array ? body : JSON.stringify(body);
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: raw as BodyInit,
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: answer, ms: performance.now() - startedAt };
}

const event = (fields: object = {}) => ({
  ...{ id: randomUUID(), startedAt: Date.now() - 1_000, endpoint: 'chat', e2eMs: 100 },
  ...fields,
});

async function countOf(projectId: string, kind: string): Promise<number> {
  await writeCounts();
  const rows = await database.query<{ count: string }>(
    'SELECT count FROM ingest_count WHERE project_id = $1 AND kind = $2',
    [projectId, kind],
  );
  return rows.reduce((sum, row) => sum + Number(row.count), 0);
}

describe('the daily cap of series', () => {
  it('folds endpoint, then version, then model, then the rest; stores every request and counts the folded ones', async () => {
    const { key, projectId } = await newKey();
    const usual = Array.from({ length: 20 }, (_, i) => event({ endpoint: `usual-${i}`, version: 'v', model: 'm' }));
    expect((await post(key, usual)).body).toMatchObject({ accepted: 20 });
    const endpoints = Array.from({ length: 30 }, (_, i) => event({ endpoint: `id-${i}`, version: 'v', model: 'm' }));
    expect((await post(key, endpoints)).body).toMatchObject({ accepted: 30 });
    const versions = Array.from({ length: 30 }, (_, i) => event({ endpoint: `id-${i}`, version: `v${i}`, model: 'm' }));
    expect((await post(key, versions)).body).toMatchObject({ accepted: 30 });
    const models = Array.from({ length: 30 }, (_, i) =>
      event({ version: `v${i}`, model: `m${i}`, clientRegion: `r${i}` }),
    );
    expect((await post(key, models)).body).toMatchObject({ accepted: 30 });
    // what is known stays itself, also for a process that has just started
    forgetStored();
    expect((await post(key, [event({ endpoint: 'usual-3', version: 'v', model: 'm' })])).body).toMatchObject({
      accepted: 1,
    });
    const stored = await database.query<Record<string, string | null>>(
      'SELECT endpoint, version, model, client_region FROM timed_request WHERE project_id = $1',
      [projectId],
    );
    expect(stored).toHaveLength(111);
    expect(stored.filter((r) => r.endpoint === 'usual-3')).toHaveLength(2);
    const folded = stored.filter((r) => r.endpoint === '__overflow__');
    expect(folded).toHaveLength(90);
    expect(folded.filter((r) => r.version === 'v' && r.model === 'm' && r.client_region === null)).toHaveLength(30);
    const series = await database.query('SELECT 1 FROM series WHERE project_id = $1', [projectId]);
    // the cap, a tenth of it for folded ones, and those with every label folded that was told: with a region and without
    expect(series.length).toBeLessThanOrEqual(20 + 2 + 2);
    expect(await countOf(projectId, 'overflow')).toBe(90);
  });
});

describe('the rate of a key', () => {
  it('refuses with 429 and Retry-After 1–3 s while the key is in debt; other keys are not held up', async () => {
    const [one, other] = [await newKey(), await newKey()];
    expect(
      (
        await post(
          one.key,
          Array.from({ length: 4_000 }, () => event()),
        )
      ).status,
    ).toBe(200);
    const refused = await post(one.key, [event()]);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'key_rate' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3);
    expect((await post(other.key, [event()])).status).toBe(200);
    await expect
      .poll(async () => (await post(one.key, [event()])).status, { timeout: 10_000, interval: 500 })
      .toBe(200);
  });
});

/** More than 1 GiB of spaces in under 2 MiB; gzip as concatenated members. */
async function bomb(encoding: string): Promise<Buffer> {
  const spaces = Buffer.alloc(64 * 1024 * 1024, ' ');
  if (encoding === 'gzip') {
    const member = zlib.gzipSync(spaces, { level: 9 });
    return Buffer.concat(Array.from({ length: 17 }, () => member));
  }
  const quality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };
  const stream = encoding === 'br' ? zlib.createBrotliCompress(quality) : zlib.createDeflate({ level: 9 });
  Readable.from(Array.from({ length: 17 }, () => spaces)).pipe(stream);
  return await buffer(stream);
}

describe('bombs', () => {
  it.each(['gzip', 'deflate', 'br'])(
    'of %s end with 413 in under a second, and memory stays flat',
    async (encoding) => {
      const { key } = await newKey();
      const body = await bomb(encoding);
      expect(body.length).toBeLessThan(2 * 1024 * 1024);
      global.gc?.();
      const before = process.memoryUsage().rss;
      const sent = await post(key, body, { 'content-encoding': encoding });
      expect(sent).toMatchObject({ status: 413, body: { error: { code: 'too_large' } } });
      expect(sent.ms).toBeLessThan(1_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    },
  );

  it('made of a hundred thousand empty gzip members is no batch', async () => {
    const { key } = await newKey();
    const empty = zlib.gzipSync('');
    const body = Buffer.concat(Array.from({ length: Math.floor((2 * 1024 * 1024) / empty.length) }, () => empty));
    const sent = await post(key, body, { 'content-encoding': 'gzip' });
    expect(sent.status).toBe(400);
    expect(sent.ms).toBeLessThan(2_000);
  });

  it('many at once are taken in turns', async () => {
    const { key } = await newKey();
    const body = await bomb('gzip');
    const before = process.memoryUsage().rss;
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => post(key, body, { 'content-encoding': 'gzip' })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([413]));
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  });
});
