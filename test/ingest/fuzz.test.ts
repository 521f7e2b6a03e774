// The short version of `npm run test:fuzz`.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { runFuzz } from '../support/fuzz';
import { INITIAL, type RunningServer, startServer } from '../support/server';

let database: TestDatabase;
let running: RunningServer;

beforeAll(async () => {
  database = await createTestDatabase();
  running = await startServer({ KEY_EVENTS_A_SECOND: '1000000' });
}, 300_000);
afterAll(async () => {
  await running?.stop();
  await database.drop();
});

it('whatever is sent and asked: never 5xx, never no answer, no rejection that nobody handles, flat memory', async () => {
  const server = {
    ...{ url: running.url, pid: running.server.pid! },
    ...{ ingestKey: INITIAL.ISOCHRONE_INIT_INGEST_KEY, readKey: INITIAL.ISOCHRONE_INIT_READ_KEY },
  };
  const report = await runFuzz(server, { posts: 4_000, queries: 300, seed: 1 });
  expect(report.wrong).toEqual([]);
  expect(report.answers['200']).toBeGreaterThan(1_000);
  expect(report.answers['400']).toBeGreaterThan(300);
  expect(running.server.exitCode).toBeNull();
  expect(running.output()).not.toMatch(/unhandled|ingest failed|request failed|posts not stored/i);
  expect(report.rssMiB.late).toBeLessThan(report.rssMiB.early * 1.5 + 200);
}, 240_000);
