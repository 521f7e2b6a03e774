import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { attributeTrace } from '@/lib/core/trace/attributeTrace';
import type { Viewer } from '@/lib/core/viewer';
import { pool } from '@/lib/db/pool';
import { Assembly } from '@/lib/ingest/assembly/assemble';
import { appendSpans } from '@/lib/ingest/otlp/appendSpans';
import { loadTrace, type Waterfall } from '@/lib/queries/loadTrace';
import { correctWithin } from '@/lib/rollup/correct';
import { CAPTURED_MS, expectedOf } from '../support/captures';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { captureSpans } from '../support/traces';

let database: TestDatabase;
const viewer: Viewer = { projectId: randomUUID(), projectSlug: 'p', userId: null, keyId: 'k', role: 'owner' };
type Stored = {
  id: string;
  trace_id: string;
  at: number;
  e2e: number;
  queue: number;
  model: number;
  unattributed: number;
};
let requests: Stored[];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: CAPTURED_MS });
  database = await createTestDatabase();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'p', 'p')`, [viewer.projectId]);
  await appendSpans(viewer.projectId, captureSpans('distributed-3svc'));
  const assembly = new Assembly({ attribute: attributeTrace, correct: correctWithin });
  while ((await assembly.step({ aheadMs: 61_000 })).traces > 0);
  requests = await database.query<Stored>(
    `SELECT id, trace_id, started_us::float8 AS at, e2e_us / 1000.0::float8 AS e2e, queue_us / 1000.0::float8 AS queue,
            model_us / 1000.0::float8 AS model, unattributed_us / 1000.0::float8 AS unattributed
     FROM timed_request WHERE project_id = $1`,
    [viewer.projectId],
  );
});
afterAll(async () => {
  vi.useRealTimers();
  await pool().end();
  await database.drop();
});

const load = (row: Stored, as = viewer) =>
  loadTrace({ viewer: as, input: { traceId: row.trace_id, requestId: row.id, startedAtUs: row.at } });

it('own times add up to the end to end, term by term to what is stored', async () => {
  expect(requests.length).toBeGreaterThanOrEqual(60);
  for (const row of requests.slice(0, 20)) {
    const trace = (await load(row)) as Waterfall;
    expect(trace.e2eMs).toBeCloseTo(row.e2e, 3);
    expect(trace.rows.reduce((ms, r) => ms + r.ownMs, 0)).toBeCloseTo(row.e2e, 2);
    expect(trace.rows[0]!.subtreeMs).toBeCloseTo(row.e2e, 2);
    const termMs = (term: string) =>
      trace.rows.flatMap((r) => r.pieces).reduce((ms, p) => ms + (p.term === term ? p.toMs - p.fromMs : 0), 0);
    expect(termMs('queue')).toBeCloseTo(row.queue, 2);
    expect(termMs('model')).toBeCloseTo(row.model, 2);
    expect(termMs('unattributed')).toBeCloseTo(row.unattributed, 2);
  }
});

it('shows the three services, the queue as a row of its own, and why the trace was closed', async () => {
  const [{ traceId }] = expectedOf<{ perRequest: [{ traceId: string }] }>('distributed-3svc').perRequest;
  const trace = (await load(requests.find((row) => row.trace_id === traceId)!)) as Waterfall;
  const services = new Set(trace.rows.flatMap((row) => row.service ?? []));
  expect(services).toEqual(new Set(['london-client', 'inference-gateway', 'inference-worker']));
  expect(trace.rows.filter((row) => row.spanId === null)).toMatchObject([
    { name: 'waiting in the queue', ownMs: expect.any(Number) },
  ]);
  expect(trace).toMatchObject({ closeReason: 'root_settled', version: 1 });
  for (const row of trace.rows) {
    for (const piece of row.pieces) {
      expect(piece.fromMs).toBeGreaterThanOrEqual(0);
      expect(piece.toMs).toBeLessThanOrEqual(trace.e2eMs + 0.001);
    }
  }
});

it('a request without spans, an odd trace id, and another project have none', async () => {
  const [row] = requests as [Stored];
  expect(await load({ ...row, trace_id: 'f'.repeat(32) })).toBe('not_traced');
  expect(await load({ ...row, trace_id: 'my-trace' })).toBe('not_traced');
  expect(await load(row, { ...viewer, projectId: randomUUID() })).toBe('not_traced');
});

it('spans that retention took are said to be gone', async () => {
  const [row] = requests as [Stored];
  await database.query('DELETE FROM span_chunk WHERE project_id = $1', [viewer.projectId]);
  expect(await load(row)).toBe('expired');
});
