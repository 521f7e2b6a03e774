import { randomBytes, randomUUID } from 'node:crypto';
import http, { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { authenticateKey, hashKey } from '../../../lib/auth/keys';
import { writeCounts } from '../../../lib/db/counts';
import { pool } from '../../../lib/db/pool';
import { decodeSpans } from '../../../lib/db/spanChunk';
import { pendingSpans, readSpanBodies } from '../../../lib/db/spanStore';
import { createIngestHandler, prepareIngest } from '../../../lib/ingest/handler';
import descriptor from '../../../lib/ingest/otlp/proto/descriptor.json';
import { CAPTURED_MS, captureNames, readCapture } from '../../support/captures';
import { createTestDatabase, type TestDatabase } from '../../support/database';

const ResponseType = protobuf.Root.fromJSON(descriptor as protobuf.INamespace).lookupType(
  'opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse',
);

let database: TestDatabase;
let server: Server;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const handle = createIngestHandler({ authenticate: authenticateKey });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await prepareIngest();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool().end();
  await database.drop();
});

async function newKey(scope = 'ingest', origins: string[] = []): Promise<{ key: string; projectId: string }> {
  const projectId = randomUUID();
  const key = `test_${randomBytes(32).toString('hex')}`;
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, $2, 'p')`, [projectId, projectId]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, 'k', $3, $4, 't', $5)`,
    [randomUUID(), projectId, scope, hashKey(key), origins],
  );
  return { key, projectId };
}

type Sent = { status: number; headers: Headers; body: Buffer };

async function post(path: string, body: Buffer | string, headers: Record<string, string>): Promise<Sent> {
  const response = await fetch(url + path, { method: 'POST', headers, body: body as BodyInit });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const jsonOf = (sent: Sent) => JSON.parse(sent.body.toString()) as Record<string, unknown>;

async function storedSpans(projectId: string) {
  const { chunks } = await pendingSpans(projectId);
  const bodies = await readSpanBodies(projectId, chunks);
  return [...bodies.values()].flatMap(({ entries, inflated }) => entries.flatMap((e) => decodeSpans(inflated, e)));
}

let serial = 0;
function span(fields: object = {}) {
  serial++;
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: `span ${serial}`,
    kind: 2,
    startTimeUnixNano: String(nowNs - 5_000_000_000n),
    endTimeUnixNano: String(nowNs - 4_000_000_000n),
    ...fields,
  };
}
const request = (spans: unknown[]) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

describe('captures over HTTP, byte for byte', () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: CAPTURED_MS }));
  afterAll(() => void vi.useRealTimers());

  it.each(captureNames())('%s', async (name) => {
    const { key, projectId } = await newKey();
    for (const captured of readCapture(name)) {
      const headers: Record<string, string> = { 'x-isochrone-key': key, 'content-type': captured.contentType };
      if (captured.contentEncoding) headers['content-encoding'] = captured.contentEncoding;
      const sent = await post(captured.path, captured.body, headers);
      expect(sent.status).toBe(200);
      expect(sent.headers.get('content-type')).toBe(captured.contentType);
      if (captured.path === '/v1/traces') expect(sent.body.toString()).toMatch(/^(\{\})?$/);
    }
    const exported = readCapture(name).some((captured) => captured.path === '/v1/traces');
    expect((await storedSpans(projectId)).length > 0).toBe(exported);
  });
});

describe('bodies', () => {
  it.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', (body) => zlib.gzipSync(body)],
    ['deflate', (body) => zlib.deflateSync(body)],
    ['deflate', (body) => zlib.deflateRawSync(body)],
    ['br', (body) => zlib.brotliCompressSync(body)],
  ])('%s', async (encoding, compress) => {
    const { key, projectId } = await newKey();
    const headers = { ...bearer(key), 'content-type': 'application/json', 'content-encoding': encoding };
    expect((await post('/v1/traces', compress(Buffer.from(request([span()]))), headers)).status).toBe(200);
    expect(await storedSpans(projectId)).toHaveLength(1);
  });

  it('chunked, without a length', async () => {
    const { key, projectId } = await newKey();
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { ...bearer(key), 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const sending = http.request(`${url}/v1/traces`, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      });
      sending.on('error', reject);
      const body = request([span(), span()]);
      sending.write(body.slice(0, 40));
      setTimeout(() => sending.end(body.slice(40)), 20);
    });
    expect(status).toBe(200);
    expect(await storedSpans(projectId)).toHaveLength(2);
  });

  it('a bomb ends with 413, an unknown encoding or type with 415, garbage with 400: all final for exporters', async () => {
    const { key } = await newKey();
    const send = (body: Buffer, headers: Record<string, string>) =>
      post('/v1/traces', body, { ...bearer(key), 'content-type': 'application/x-protobuf', ...headers });
    expect((await send(zlib.gzipSync(Buffer.alloc(50 << 20)), { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await send(Buffer.from('x'), { 'content-encoding': 'zstd' })).status).toBe(415);
    expect((await send(Buffer.from('x'), { 'content-type': 'application/grpc' })).status).toBe(415);
    const garbage = await send(Buffer.from('not protobuf at all'), {});
    expect(garbage.status).toBe(400);
    expect(garbage.headers.get('content-type')).toBe('application/x-protobuf');
    const json = await send(Buffer.from('{"resourceSpans": 3}'), { 'content-type': 'application/json' });
    expect(json.status).toBe(400);
    expect(jsonOf(json)).toMatchObject({ code: 3, message: expect.stringContaining('resourceSpans') });
  });
});

describe('answers', () => {
  const half = () => [span(), span({ spanId: 'nonsense' }), span({ endTimeUnixNano: '0' })];

  it('partial success in JSON', async () => {
    const { key, projectId } = await newKey();
    const sent = await post('/v1/traces', request(half()), { ...bearer(key), 'content-type': 'application/json' });
    expect(sent.status).toBe(200);
    expect(jsonOf(sent)).toEqual({
      partialSuccess: {
        rejectedSpans: '2',
        errorMessage: 'Spans left out: 1 that has no spanId of 8 bytes; 1 that has no endTimeUnixNano.',
      },
    });
    expect(await storedSpans(projectId)).toHaveLength(1);
    await writeCounts();
    const counts = await database.query(
      'SELECT kind, count::int FROM ingest_count WHERE project_id = $1 ORDER BY kind',
      [projectId],
    );
    expect(counts).toEqual([
      { kind: 'rejectedSpans:no_end', count: 1 },
      { kind: 'rejectedSpans:span_id', count: 1 },
      { kind: 'spans', count: 1 },
    ]);
  });

  it('partial success in protobuf', async () => {
    const { key } = await newKey();
    const RequestType = protobuf.Root.fromJSON(descriptor as protobuf.INamespace).lookupType(
      'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest',
    );
    const body = RequestType.encode({ resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'no ids' }] }] }] }).finish();
    const sent = await post('/v1/traces', Buffer.from(body), {
      ...bearer(key),
      'content-type': 'application/x-protobuf',
    });
    expect(sent.status).toBe(200);
    expect(sent.headers.get('content-type')).toBe('application/x-protobuf');
    const { partialSuccess } = ResponseType.toObject(ResponseType.decode(sent.body), { longs: Number }) as {
      partialSuccess: object;
    };
    expect(partialSuccess).toEqual({ rejectedSpans: 1, errorMessage: expect.stringContaining('traceId') });
  });

  it.each([
    ['/v1/logs', 'rejectedLogRecords'],
    ['/v1/metrics', 'rejectedDataPoints'],
  ])('%s: 200, said to be unused', async (path, field) => {
    const { key } = await newKey();
    const sent = await post(path, '{}', { ...bearer(key), 'content-type': 'application/json' });
    expect(sent.status).toBe(200);
    expect(jsonOf(sent)).toEqual({
      partialSuccess: { [field]: '0', errorMessage: expect.stringContaining('not used') },
    });
  });

  it('no key and a wrong key: 401; a read key: 403', async () => {
    const { key } = await newKey('read');
    const type = { 'content-type': 'application/json' };
    expect((await post('/v1/traces', '{}', type)).status).toBe(401);
    expect((await post('/v1/traces', '{}', { ...type, 'x-isochrone-key': 'x'.repeat(40) })).status).toBe(401);
    expect((await post('/v1/traces', '{}', { ...type, ...bearer(key) })).status).toBe(403);
  });

  it('a browser: preflight with the headers it asks for, its spans are the client’s', async () => {
    const origin = 'https://app.example.com';
    const { key, projectId } = await newKey('browser', [origin]);
    const asked = 'authorization,content-type,x-team';
    const preflight = await fetch(`${url}/v1/traces`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe(asked);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    const headers = { ...bearer(key), 'content-type': 'application/json', origin };
    const sent = await post('/v1/traces', request([span()]), headers);
    expect(sent.status).toBe(200);
    expect(sent.headers.get('access-control-allow-origin')).toBe(origin);
    expect((await storedSpans(projectId))[0]!.resource).toEqual({ 'isochrone.vantage': 'client' });
    const foreign = await post('/v1/traces', request([span()]), { ...headers, origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
  });
});

describe('when the database refuses', () => {
  it('503 with a short Retry-After, nothing is lost or kept; afterwards the same batch is taken', async () => {
    const { key, projectId } = await newKey();
    const body = request([span()]);
    const headers = { ...bearer(key), 'content-type': 'application/json' };
    await database.query('ALTER TABLE span_pending RENAME TO span_pending_away');
    const refused = await post('/v1/traces', body, headers);
    await database.query('ALTER TABLE span_pending_away RENAME TO span_pending');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3);
    expect(jsonOf(refused)).toMatchObject({ code: 14 });
    expect(await database.query('SELECT 1 FROM span_chunk WHERE project_id = $1', [projectId])).toEqual([]);
    expect((await post('/v1/traces', body, headers)).status).toBe(200);
    expect(await storedSpans(projectId)).toHaveLength(1);
  });
});
