// The traces of the OTLP benchmark, counted: as many requests as traces, each once, whatever the number.
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OtlpOrder, type OtlpReport, SPANS_A_TRACE } from '../../../bench/support/otlpLoad';
import { authenticateKey, hashKey } from '../../../lib/auth/keys';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { pool } from '../../../lib/db/pool';
import { Assembly } from '../../../lib/ingest/assembly/assemble';
import { createIngestHandler } from '../../../lib/ingest/handler';
import { correctWithin } from '../../../lib/rollup/correct';
import { createTestDatabase, type TestDatabase } from '../../support/database';

// Not a multiple of the traces a post holds
const TRACES = 1_000;
let database: TestDatabase;
const projectId = randomUUID();
const key = `test_${randomBytes(32).toString('hex')}`;
const handle = createIngestHandler({ authenticate: authenticateKey });
const server = createServer((request, response) => void handle(request, response));

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'load', 'load')`, [projectId]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, 'k', 'ingest', $3, 't', '{}')`,
    [randomUUID(), projectId, hashKey(key)],
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool().end();
  await database.drop();
});

it('two workers that take turns make one request of each trace', async () => {
  const generator = fork(path.resolve('bench/support/otlpLoad.ts'), [], { execArgv: ['--import', 'tsx'] });
  const { port } = server.address() as AddressInfo;
  const order: OtlpOrder = { port, key, connections: 4, traces: TRACES, rate: null, rooted: true };
  generator.send(order);
  const [report] = (await once(generator, 'message')) as [OtlpReport];
  generator.kill();
  expect(report).toMatchObject({ spans: TRACES * SPANS_A_TRACE, refused: {} });
  const workers = [1, 2].map(() => new Assembly({ attribute: attributeTrace, correct: correctWithin }));
  const pending = () => database.query('SELECT 1 FROM span_pending');
  for (let round = 0; round < 100 && (await pending()).length > 0; round++) {
    if (round % 3 === 0) await database.query('UPDATE assembly_lease SET held_until = to_timestamp(0)');
    await workers[Math.floor(round / 3) % 2]!.step({ aheadMs: 6_000 });
  }
  expect(await pending()).toEqual([]);
  const [found] = await database.query<{ n: number; ids: number; traces: number }>(
    `SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids, count(DISTINCT trace_id)::int AS traces
     FROM timed_request WHERE project_id = $1`,
    [projectId],
  );
  expect(found).toEqual({ n: TRACES, ids: TRACES, traces: TRACES });
});
