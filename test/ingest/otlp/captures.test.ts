// From the wire to raw: each capture posted byte for byte, assembled, and read back, is what attribution makes of its
// spans (which test/core/trace/captures.test.ts holds against what the recorder knew).
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { authenticateKey, hashKey } from '../../../lib/auth/keys';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { writeCounts } from '../../../lib/db/counts';
import { pool } from '../../../lib/db/pool';
import { Assembly } from '../../../lib/ingest/assembly/assemble';
import { createIngestHandler } from '../../../lib/ingest/handler';
import { correctWithin } from '../../../lib/rollup/correct';
import { CAPTURED_MS, captureNames, expectedOf, readCapture } from '../../support/captures';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { captureSpans, requestsOf } from '../../support/traces';

let database: TestDatabase;
let server: Server;
let url: string;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: CAPTURED_MS });
  database = await createTestDatabase();
  const handle = createIngestHandler({ authenticate: authenticateKey });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
  await pool().end();
  await database.drop();
});

async function replay(name: string): Promise<string> {
  const projectId = randomUUID();
  const key = `test_${randomBytes(32).toString('hex')}`;
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, $2, 'p')`, [projectId, projectId]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, 'k', 'ingest', $3, 't', '{}')`,
    [randomUUID(), projectId, hashKey(key)],
  );
  for (const post of readCapture(name)) {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, 'content-type': post.contentType };
    if (post.contentEncoding) headers['content-encoding'] = post.contentEncoding;
    const sent = await fetch(url + post.path, { method: 'POST', headers, body: post.body as BodyInit });
    expect(sent.status).toBe(200);
  }
  const assembly = new Assembly({ attribute: attributeTrace, correct: correctWithin });
  while ((await assembly.step({ aheadMs: 61_000 })).traces > 0);
  expect(await database.query('SELECT 1 FROM span_pending WHERE project_id = $1', [projectId])).toEqual([]);
  return projectId;
}

type Row = {
  id: string;
  e2e_us: number;
  ttft_us: number | null;
  model: string | null;
  outcome: string;
  trace_id: string;
};
const stored = (projectId: string) =>
  database.query<Row>(
    `SELECT id, started_us::float8 AS started_us, endpoint, vantage, client_region, service_region, provider, model,
            outcome, e2e_us::float8 AS e2e_us, ttft_us::float8 AS ttft_us, queue_us::float8 AS queue_us,
            model_us::float8 AS model_us, network_us::float8 AS network_us, input_tokens::float8 AS input_tokens,
            output_tokens::float8 AS output_tokens, trace_id, call_count
     FROM timed_request WHERE project_id = $1 ORDER BY id`,
    [projectId],
  );

describe.each(captureNames())('%s', (name) => {
  it('is stored as its spans say, each request once', async () => {
    const projectId = await replay(name);
    const expected = requestsOf(captureSpans(name)).map(({ request: r }) => ({
      ...{ id: r.id, started_us: r.startedAtUs, endpoint: r.dims.endpoint, vantage: r.dims.vantage },
      ...{ client_region: r.dims.clientRegion, service_region: r.dims.serviceRegion, provider: r.dims.provider },
      ...{ model: r.dims.model, outcome: r.outcome, e2e_us: r.e2eUs, ttft_us: r.ttftUs },
      ...{ network_us: r.terms[1], queue_us: r.terms[3], model_us: r.terms[8] },
      ...{
        input_tokens: r.inputTokens,
        output_tokens: r.outputTokens,
        trace_id: r.traceId,
        call_count: r.calls.length,
      },
    }));
    expect(await stored(projectId)).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
  });
});

it('the batch that was sent twice counts once, and its second copy is counted as such', async () => {
  const projectId = await replay('otel20-retry-duplicate-batch');
  await writeCounts();
  const rows = await database.query<{ kind: string; count: number }>(
    `SELECT kind, count::int FROM ingest_count WHERE project_id = $1 AND kind IN ('spans', 'duplicateSpans')`,
    [projectId],
  );
  const counts = Object.fromEntries(rows.map((row) => [row.kind, row.count]));
  const distinct = new Set(
    captureSpans('otel20-retry-duplicate-batch').map((span) => `${span.traceId}/${span.spanId}`),
  );
  expect(counts.duplicateSpans).toBeGreaterThan(0);
  expect(counts.spans! - counts.duplicateSpans!).toBe(distinct.size);
});

it('three services in two encodings: 60 requests with the e2e that the client measured, within 5 ms', async () => {
  type Expected = { perRequest: { traceId: string; e2eMs: number; networkMs: number; queueMs: number }[] };
  const rows = new Map((await stored(await replay('distributed-3svc'))).map((row) => [row.trace_id, row]));
  for (const { traceId, e2eMs } of expectedOf<Expected>('distributed-3svc').perRequest) {
    expect(Math.abs(rows.get(traceId)!.e2e_us / 1_000 - e2eMs)).toBeLessThan(5);
  }
});
