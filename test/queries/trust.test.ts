import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GET } from '@/app/api/v1/trust/route';
import { hashKey } from '@/lib/auth/keys';
import type { Viewer } from '@/lib/core/viewer';
import { writeCounts } from '@/lib/db/counts';
import { pool } from '@/lib/db/pool';
import { ingest } from '@/lib/ingest/pipeline';
import { loadTrust } from '@/lib/queries/loadTrust';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { isolateBadRows } from '@/lib/rollup/isolate';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let viewer: Viewer;
let other: Viewer;
const nowMs = Date.now();
const keyOf = new Map<string, string>();

async function viewerOf(slug: string): Promise<Viewer> {
  const projectId = randomUUID();
  const keyId = randomUUID();
  keyOf.set(projectId, keyId);
  await database.query('INSERT INTO project (id, slug, name) VALUES ($1, $2, $2)', [projectId, slug]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES (gen_random_uuid(), $1, $2, 'read', $3, 'iso', '{}'), ($5, $1, 'app', 'ingest', $4, 'iso', '{}')`,
    [projectId, slug, hashKey(`read_${slug}`), hashKey(`ingest_${slug}`), keyId],
  );
  return { projectId, projectSlug: slug, userId: null, keyId: 'test', role: 'reader' };
}

const event = (fields: object = {}) => ({
  ...{ id: randomUUID(), startedAt: nowMs - 60_000, endpoint: 'chat', vantage: 'client', e2eMs: 500 },
  ...fields,
});
const send = (projectId: string, items: unknown[], sentAtUs: number | null = null) =>
  ingest({
    ...{ projectId, keyId: keyOf.get(projectId)!, items, sentAtUs, defaultVantage: 'service', idempotencyKey: null },
    receivedAtUs: nowMs * 1000,
  });
const load = (who: Viewer, query = '') => loadTrust({ viewer: who, input: parseScope(new URLSearchParams(query)) });

beforeAll(async () => {
  database = await createTestDatabase();
  viewer = await viewerOf('trust');
  other = await viewerOf('other');
  const good = [event({ terms: { modelMs: 100, networkMs: 20 } }), event({ terms: { modelMs: 100 } }), event()];
  await send(viewer.projectId, good);
  await send(viewer.projectId, good); // a retry
  await send(viewer.projectId, [
    event({ startedAt: nowMs + 3_600_000 }),
    event({ startedAt: nowMs - 40 * 86_400_000 }),
    event({ e2eMs: -1 }),
    event({ startedAt: nowMs - 30 * 3_600_000 }),
    event({ terms: { modelMs: 5_000 } }),
    event({ colour: 'red', clientRegion: 'office-2', serviceRegion: 'eu-west-1' }),
  ]);
  await send(viewer.projectId, [event(), event()], (nowMs - 10_000) * 1000);
  await send(other.projectId, [event({ clientRegion: 'moon' })]);
  await writeCounts();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

test('counts what the write path did; the rest of the answer agrees with raw rows', async () => {
  const trust = await load(viewer);
  const [raw] = await database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM timed_request WHERE project_id = $1',
    [viewer.projectId],
  );
  expect(trust.received).toMatchObject({
    ...{ accepted: raw!.n, duplicates: 3, rejected: 3, late: 1, inconsistent: 1, unknownFields: 1, skewed: 2 },
  });
  expect(trust.received.accepted).toBe(8);
  expect(trust.received.rejectedByReason.map((r) => r.reason).sort()).toEqual(['future', 'invalid', 'too_old']);
  expect(trust.receivedOverTime.reduce((sum, b) => sum + b.accepted, 0)).toBe(8);
  expect(trust.receivedOverTime.length).toBeGreaterThanOrEqual(24);
  expect(trust.findings[0]).toMatchObject({ id: 'rejected', state: 'bad' });
});

test('evidence of every term adds up to the requests of the scope', async () => {
  const trust = await load(viewer, 'endpoint=chat');
  const [raw] = await database.query<{ n: number; model: number; network: number }>(
    `SELECT count(*)::int AS n, count(model_us)::int AS model, count(network_us)::int AS network FROM timed_request
     WHERE project_id = $1 AND started_at >= $2 AND started_at < $3`,
    [viewer.projectId, trust.effectiveFrom, trust.effectiveTo],
  );
  expect(trust.count).toBe(raw!.n);
  for (const counts of Object.values(trust.evidence))
    expect(counts.measured + counts.derived + counts.assumed + counts.missing).toBe(trust.count);
  expect(trust.evidence.model).toMatchObject({ measured: raw!.model, coverage: raw!.model / raw!.n });
  expect(trust.evidence.network.measured).toBe(raw!.network);
  expect(trust.evidence.queue).toMatchObject({ missing: trust.count, coverage: 0 });
});

test('unknown regions are listed as sent, of this project only', async () => {
  expect((await load(viewer)).unknownRegions).toEqual([{ field: 'clientRegion', name: 'office-2' }]);
  const elsewhere = await load(other);
  expect(elsewhere.unknownRegions).toEqual([{ field: 'clientRegion', name: 'moon' }]);
  expect(elsewhere.received).toMatchObject({ accepted: 1, duplicates: 0, rejected: 0 });
});

test('each key: newest event as corrected, and how far its clock was off', async () => {
  const { keys } = await load(viewer);
  expect(keys).toMatchObject([
    { name: 'app', scope: 'ingest', revoked: false, skewedPosts: 1, skewMsMin: 10_000, skewMsMax: 10_000 },
  ]);
  expect(keys[0]!.newestEventAt).toBe(new Date(nowMs - 50_000).toISOString());
  expect((await load(other)).keys[0]).toMatchObject({ skewedPosts: 0, skewMsMin: null });
});

test('what is not folded is pending with its age; a chunk that cannot be folded is in quarantine', async () => {
  const before = await load(viewer);
  expect(before.store.pending.requests).toBe(8);
  expect(before.store.foldLagMs).toBeGreaterThan(0);
  const [chunk] = await database.query<{ day: string; chunk_id: string; n: number }>(
    'SELECT day::text, chunk_id, n FROM pending WHERE project_id = $1 ORDER BY n LIMIT 1',
    [viewer.projectId],
  );
  await isolateBadRows(viewer.projectId, { id: chunk!, reason: 'made to fail', pending: true });
  while ((await foldPending()).chunks > 0);
  const after = await load(viewer);
  expect(after.store).toMatchObject({
    pending: { chunks: 0, requests: 0, oldestReceivedAt: null },
    foldLagMs: 0,
    quarantine: { chunks: 1, requests: chunk!.n },
  });
  expect(after.quarantined).toMatchObject([{ chunkId: chunk!.chunk_id, reason: 'made to fail' }]);
  expect(after.findings.find((f) => f.id === 'quarantine')?.state).toBe('bad');
});

test('over HTTP the answer is the same; without a key there is none', async () => {
  const url = 'http://localhost/api/v1/trust?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z';
  const answer = await GET(new Request(url, { headers: { authorization: 'Bearer read_trust' } }));
  const { asOf: _, ...body } = (await answer.json()) as Record<string, unknown>;
  const { asOf: __, ...loaded } = await load(viewer, 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z');
  expect([answer.status, body]).toEqual([200, JSON.parse(JSON.stringify(loaded))]);
  expect(body).toMatchObject({ received: { accepted: 0 }, count: 0, keys: [{ name: 'app', scope: 'ingest' }] });
  expect((await GET(new Request(url))).status).toBe(401);
});

test('an empty project has no requests and nothing wrong', async () => {
  const empty = await viewerOf('empty');
  const trust = await load(empty);
  expect(trust).toMatchObject({ count: 0, received: { accepted: 0 }, unknownRegions: [], quarantined: [] });
  expect(trust.evidence.model.coverage).toBeNull();
  expect(trust.findings.every((f) => f.state === 'good')).toBe(true);
});
