import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticateKey, hashKey } from '../../lib/auth/keys';
import { CHUNK_COLUMNS, type ChunkRow, decodeChunk, openChunk, seriesIdsOf } from '../../lib/db/chunk';
import { writeCounts } from '../../lib/db/counts';
import { pool } from '../../lib/db/pool';
import { attributeSetId, loadAttributeSets, loadSeries } from '../../lib/db/series';
import { attribute } from '../../lib/ingest/attribute';
import { eventSchema } from '../../lib/ingest/contract';
import { createIngestHandler, prepareIngest } from '../../lib/ingest/handler';
import type { IngestAnswer } from '../../lib/ingest/pipeline';
import { singleton } from '../../lib/platform/singleton';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let server: Server;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
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

type Key = { key: string; projectId: string };

async function newKey(
  fields: { scope?: string; origins?: string[]; expiresAt?: Date; projectId?: string } = {},
): Promise<Key> {
  const projectId = fields.projectId ?? randomUUID();
  const key = `test_${randomBytes(32).toString('hex')}`;
  if (!fields.projectId) {
    await database.query(`INSERT INTO project (id, slug, name, time_zone) VALUES ($1, $2, 'p', 'UTC')`, [
      projectId,
      projectId,
    ]);
  }
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins, expires_at)
     VALUES ($1, $2, 'k', $3, $4, 'test', $5, $6)`,
    [randomUUID(), projectId, fields.scope ?? 'ingest', hashKey(key), fields.origins ?? [], fields.expiresAt ?? null],
  );
  return { key, projectId };
}

const forgetRecentIds = () => {
  singleton<{ recent: unknown }>('append', () => ({ recent: null })).recent = null;
};

type Sent = { status: number; headers: Headers; body: IngestAnswer & { error?: { code: string; hint: string } } };

async function post(key: string, body: unknown, headers: Record<string, string> = {}): Promise<Sent> {
  const raw = body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: raw as BodyInit,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Sent['body'] };
}

const event = (fields: object = {}) => ({
  id: randomUUID(),
  startedAt: Date.now() - 1_000,
  endpoint: 'chat',
  e2eMs: 812.3456,
  ...fields,
});
const events = (n: number, fields: object = {}) => Array.from({ length: n }, () => event(fields));
const stored = (projectId: string) =>
  database.query<Record<string, unknown>>('SELECT * FROM timed_request WHERE project_id = $1 ORDER BY id', [projectId]);

describe('what is stored', () => {
  it('is readable right after 2xx, field by field', async () => {
    const { key, projectId } = await newKey();
    const startedAt = '2026-01-01T00:00:00.123456Z'.replace('2026-01-01', new Date().toISOString().slice(0, 10));
    const sent = event({
      id: 'quoted "id" \\ {x},é',
      startedAt,
      clientRegion: 'eu-west-2',
      serviceRegion: '',
      ttftMs: 350,
      terms: { queueMs: 12.5, networkMs: 0, modelMs: 300 },
      cache: 'prefix',
      connection: 'new',
      weight: 4,
      quality: 0.9,
      attributes: { plan: 'pro "x"', a: '1' },
    });
    const answer = await post(key, [sent, event({ id: 'zz', outcome: 'timeout' })]);
    expect(answer).toMatchObject({ status: 200, body: { accepted: 2, duplicates: 0, rejected: [] } });
    const [row, other] = await stored(projectId);
    expect(row).toMatchObject({
      id: 'quoted "id" \\ {x},é',
      endpoint: 'chat',
      vantage: 'service',
      client_region: 'eu-west-2',
      service_region: '',
      provider: null,
      outcome: 'ok',
      e2e_us: '812346',
      ttft_us: '350000',
      decode_us: '462346',
      queue_us: '12500',
      network_us: '0',
      retry_us: null,
      model_us: '300000',
      unattributed_us: '37500',
      connection_kind: 'new',
      cache: 'prefix',
      weight: '4',
      quality: 0.9,
      attributes: { plan: 'pro "x"', a: '1' },
    });
    expect(String(row!.started_us)).toBe(String(Date.parse(`${startedAt.slice(0, 19)}Z`) * 1_000 + 123_456));
    expect(other).toMatchObject({ outcome: 'timeout', ttft_us: null, weight: '1', attributes: null });
    const pending = await database.query('SELECT n FROM pending WHERE project_id = $1', [projectId]);
    expect(pending).toEqual([{ n: 2 }]);
  });

  it('decodes to the same requests, from columns and from JSON', async () => {
    const { key, projectId } = await newKey();
    const call = { stage: 'llm', durationMs: 40, modelMs: 30, hopMs: 10, startOffsetMs: 0, attempts: 2, model: 'm' };
    const batch = [
      event({ id: '1', calls: [call, { ...call, startOffsetMs: 40 }], attributes: { b: '2' } }),
      event({ id: '2', inFlight: 3, rttMs: 7.5, roundTrips: 2, traceId: 't', inputTokens: 10 }),
      event({ id: '3', calls: [{ stage: 'tool', durationMs: 1 }] }),
    ];
    await post(key, batch);
    const expected = batch.map((sent) => {
      const parsed = eventSchema.parse(sent);
      return attribute(parsed, { startedAtUs: sent.startedAt * 1_000, defaultVantage: 'service' }).request;
    });
    const { rows } = await pool().query<ChunkRow>(`SELECT ${CHUNK_COLUMNS} FROM hot_chunk WHERE project_id = $1`, [
      projectId,
    ]);
    const series = await loadSeries(projectId, rows.map(openChunk).flatMap(seriesIdsOf));
    const sets = await loadAttributeSets(projectId, [attributeSetId({ b: '2' })]);
    expect(rows.flatMap((row) => decodeChunk(row, series, sets))).toEqual(expected);
  });

  it('never lets a bad item poison its batch', async () => {
    const { key, projectId } = await newKey();
    const batch = [event(), event({ id: 'bad', e2eMs: -1 }), 'text', event({ endpoint: 'a\0' }), event()];
    const { status, body } = await post(key, batch);
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: 2, duplicates: 0 });
    expect(body.rejected.map((r) => [r.index, r.path])).toEqual([
      [1, 'e2eMs'],
      [2, ''],
      [3, 'endpoint'],
    ]);
    expect(body.rejected[0]).toMatchObject({ id: 'bad', message: expect.stringMatching(/leave the field out/) });
    expect(await stored(projectId)).toHaveLength(2);
    expect((await post(key, [{ id: 1 }])).body).toMatchObject({ accepted: 0, rejected: [{ index: 0 }] });
  });

  it('splits by UTC day and takes events up to 35 days old, counted as late', async () => {
    const { key, projectId } = await newKey();
    const old = event({ startedAt: Date.now() - 34 * 86_400_000 });
    expect((await post(key, [event(), old])).body.accepted).toBe(2);
    expect(await database.query('SELECT DISTINCT day FROM hot_chunk WHERE project_id = $1', [projectId])).toHaveLength(
      2,
    );
    await writeCounts();
    const counts = await database.query('SELECT kind, count FROM ingest_count WHERE project_id = $1 ORDER BY kind', [
      projectId,
    ]);
    expect(counts).toEqual([
      { kind: 'accepted', count: '2' },
      { kind: 'late', count: '1' },
    ]);
  });

  it('corrects a skewed clock', async () => {
    const { key, projectId } = await newKey();
    const ahead = Date.now() + 3_600_000;
    const headers = { 'x-isochrone-sent-at': new Date(ahead).toISOString() };
    expect((await post(key, [event({ startedAt: ahead - 5_000 })], headers)).body.accepted).toBe(1);
    const [row] = await stored(projectId);
    expect(Math.abs(Number(row!.started_us) / 1_000 - (Date.now() - 5_000))).toBeLessThan(3_000);
    await writeCounts();
    const [seen] = await database.query('SELECT * FROM ingest_key_day WHERE project_id = $1', [projectId]);
    expect(seen).toMatchObject({ skewed_posts: '1' });
    expect(Number(seen!.skew_ms_min)).toBeLessThan(-3_590_000);
    expect(Math.abs(Number(seen!.newest_event) - Number(row!.started_us) / 1_000)).toBeLessThan(1);
  });
});

describe('duplicates', () => {
  it('the same batch twice changes nothing', async () => {
    const { key, projectId } = await newKey();
    const batch = events(20);
    expect((await post(key, batch)).body).toMatchObject({ accepted: 20, duplicates: 0 });
    const before = await stored(projectId);
    expect((await post(key, batch)).body).toEqual({ accepted: 0, duplicates: 20, rejected: [] });
    expect(await stored(projectId)).toEqual(before);
  });

  it('a re-composed batch stores only what is new', async () => {
    const { key, projectId } = await newKey();
    const [a, b, c] = events(3);
    await post(key, [a, b]);
    expect((await post(key, [c, b, b])).body).toMatchObject({ accepted: 1, duplicates: 2 });
    expect(await stored(projectId)).toHaveLength(3);
  });

  it('concurrent copies are stored once, and each copy is answered after that', async () => {
    const { key, projectId } = await newKey();
    const batch = events(50);
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(key, batch)));
    expect(answers.reduce((n, a) => n + a.body.accepted, 0)).toBe(50);
    expect(answers.reduce((n, a) => n + a.body.duplicates, 0)).toBe(550);
    expect(await stored(projectId)).toHaveLength(50);
  });

  it('a batch that another process stored is found in the ledger; its neighbours in the flush are stored', async () => {
    const { key, projectId } = await newKey();
    const other = await newKey();
    const batch = events(5);
    await post(key, batch);
    forgetRecentIds(); // as after a restart; the refill must not be what saves us
    await database.query(`UPDATE hot_chunk SET received_at = now() - interval '1 hour' WHERE project_id = $1`, [
      projectId,
    ]);
    const [again, fresh] = await Promise.all([post(key, batch), post(other.key, events(3))]);
    expect(again.body).toMatchObject({ accepted: 0, duplicates: 5 });
    expect(fresh.body).toMatchObject({ accepted: 3, duplicates: 0 });
    expect(await stored(projectId)).toHaveLength(5);
    expect(await stored(other.projectId)).toHaveLength(3);
  });

  it('the recent ids are refilled from the database at start', async () => {
    const { key } = await newKey();
    const [a, b] = events(2);
    await post(key, [a!]);
    forgetRecentIds();
    expect((await post(key, [a!, b!])).body).toMatchObject({ accepted: 1, duplicates: 1 });
  });

  it('projects do not share ids', async () => {
    const [one, two] = [await newKey(), await newKey()];
    const batch = events(2);
    await post(one.key, batch);
    expect((await post(two.key, batch)).body).toMatchObject({ accepted: 2, duplicates: 0 });
  });
});

describe('bodies', () => {
  it.each(['gzip', 'deflate', 'br', 'raw deflate'])('reads %s', async (encoding) => {
    const { key } = await newKey();
    const raw = Buffer.from(JSON.stringify({ events: events(3) }));
    const body =
      { gzip: zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync }[encoding] ?? zlib.deflateRawSync;
    const sent = await post(key, body(raw), { 'content-encoding': encoding.replace('raw ', '') });
    expect(sent.body).toMatchObject({ accepted: 3 });
  });

  it('reads NDJSON; a broken line is refused alone', async () => {
    const { key } = await newKey();
    const lines = `${JSON.stringify(event())}\n{"id":\n\n${JSON.stringify(event())}\n`;
    const { body } = await post(key, lines, { 'content-type': 'application/x-ndjson' });
    expect(body).toMatchObject({ accepted: 2, rejected: [{ index: 1 }] });
  });

  it.each(['gzip', 'deflate', 'br'])('ends a %s bomb with 413', async (encoding) => {
    const { key } = await newKey();
    const zeros = Buffer.alloc(64 * 1024 * 1024, ' ');
    const body = {
      gzip: zlib.gzipSync,
      deflate: zlib.deflateSync,
      br: (b: Buffer) => zlib.brotliCompressSync(b, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    }[encoding]!;
    const sent = await post(key, body(zeros), { 'content-encoding': encoding });
    expect(sent).toMatchObject({ status: 413, body: { error: { code: 'too_large' } } });
  });

  it('holds the limits and says what to do', async () => {
    const { key } = await newKey();
    expect((await post(key, events(5_001))).status).toBe(413);
    const large = Buffer.from(JSON.stringify(events(1, { padding: randomBytes(3_000_000).toString('base64') })));
    expect((await post(key, zlib.gzipSync(large), { 'content-encoding': 'gzip' })).status).toBe(413);
    expect(await post(key, '{"a": NaN}')).toMatchObject({ status: 400, body: { error: { code: 'not_json' } } });
    expect(await post(key, '{"a": 1}')).toMatchObject({ status: 400, body: { error: { code: 'not_a_batch' } } });
    expect((await post(key, '[]', { 'content-type': 'application/xml' })).status).toBe(415);
    expect((await post(key, '[]', { 'content-encoding': 'zstd' })).status).toBe(415);
    expect((await post(key, 'x', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await fetch(url)).status).toBe(405);
    expect((await post(key, '[]')).body).toEqual({ accepted: 0, duplicates: 0, rejected: [] });
  });
});

describe('keys', () => {
  it('refuses no key, an unknown key and the stored hash with 401', async () => {
    const { key } = await newKey();
    expect((await post('', [])).status).toBe(401);
    expect((await post('unknown', [])).status).toBe(401);
    expect((await post(hashKey(key).toString('hex'), [])).status).toBe(401);
    expect((await post(hashKey(key).toString('base64'), [])).status).toBe(401);
  });

  it('refuses read and manage keys with 403, and expired ones with 401', async () => {
    for (const scope of ['read', 'manage']) {
      expect((await post((await newKey({ scope })).key, [])).status).toBe(403);
    }
    expect((await post((await newKey({ expiresAt: new Date(Date.now() - 1) })).key, [])).status).toBe(401);
  });

  it('a revoked key stops within 5 s', async () => {
    const { key, projectId } = await newKey();
    expect((await post(key, [])).status).toBe(200);
    await database.query('UPDATE api_key SET revoked_at = now() WHERE project_id = $1', [projectId]);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect((await post(key, [])).status).toBe(401);
  });

  it('binds a browser key to its origins; its vantage is the client', async () => {
    const { key, projectId } = await newKey({ scope: 'browser', origins: ['https://app.example'] });
    expect((await post(key, [event()])).status).toBe(403);
    expect((await post(key, [event()], { origin: 'https://evil.example' })).status).toBe(403);
    const sent = await post(key, [event()], { origin: 'https://app.example' });
    expect(sent.status).toBe(200);
    expect(sent.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect((await stored(projectId))[0]).toMatchObject({ vantage: 'client' });
    const [row] = await database.query('SELECT last_used_at FROM api_key WHERE project_id = $1', [projectId]);
    expect(row!.last_used_at).toBeInstanceOf(Date);
  });
});
