import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TimedRequest } from '../../lib/core/request';
import { keyOfIds } from '../../lib/db/ledger';
import { utcDay } from '../../lib/db/partitions';
import { pool } from '../../lib/db/pool';
import { append, appendIdle, type Post } from '../../lib/ingest/append';
import { attribute } from '../../lib/ingest/attribute';
import { eventSchema } from '../../lib/ingest/contract';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

function request(fields: Partial<TimedRequest> = {}): TimedRequest {
  const event = eventSchema.parse({ id: randomUUID(), startedAt: 0, endpoint: 'chat', e2eMs: 100 });
  const { request: made } = attribute(event, { startedAtUs: Date.now() * 1_000, defaultVantage: 'service' });
  return { ...made, ...fields };
}

function post(requests: TimedRequest[], projectId: string = randomUUID()): Post {
  const day = utcDay(requests[0]!.startedAtUs);
  return { projectId, requests, ledger: { projectId, day, key: keyOfIds(requests.map((r) => r.id)) } };
}

async function storedIds(projectId: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>('SELECT id FROM timed_request WHERE project_id = $1', [projectId]);
  return rows.map((row) => row.id);
}

async function allowConnections(allowed: boolean): Promise<void> {
  const url = new URL(database.adminUrl);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.toString() });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS ${allowed}`);
  if (!allowed)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database.name]);
  await admin.end();
}

describe('append', () => {
  it('one project that cannot be stored never fails another of the same flush', async () => {
    const good = [post([request()]), post([request(), request()])];
    const bad = post([request(), request({ weight: 1e30 })]);
    await append(post([request()])); // warm
    const results = await Promise.allSettled([good[0]!, bad, good[1]!].map((p) => append(p)));
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ status: 400, code: 'unstorable' });
    expect(await storedIds(bad.projectId)).toEqual([]);
    expect(await database.query('SELECT * FROM ledger WHERE project_id = $1', [bad.projectId])).toEqual([]);
    expect(await storedIds(good[1]!.projectId)).toHaveLength(2);
  });

  it('answers 503 while the database is down, stores nothing by halves, and recovers by itself', async () => {
    const lost = post([request(), request()]);
    await allowConnections(false);
    await expect(append(lost)).rejects.toMatchObject({ status: 503, retryAfterS: expect.any(Number) });
    await allowConnections(true);
    expect(await storedIds(lost.projectId)).toEqual([]);
    expect(await append(lost)).toEqual({ accepted: 2, duplicates: 0 });
    expect(await append(lost)).toEqual({ accepted: 0, duplicates: 2 });
    expect(await storedIds(lost.projectId)).toHaveLength(2);
  });

  it('refuses with 429 what does not fit its queue, and takes it later', async () => {
    const many = Array.from({ length: 11 }, () => post(Array.from({ length: 4_900 }, () => request())));
    const results = await Promise.allSettled(many.map((p) => append(p)));
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(10);
    expect((results[10] as PromiseRejectedResult).reason).toMatchObject({ status: 429, retryAfterS: 1 });
    await appendIdle();
    expect(await append(many[10]!)).toEqual({ accepted: 4_900, duplicates: 0 });
  });

  it('writes a post that comes in whatever step of the end of a flush', async () => {
    for (let steps = 0; steps < 40; steps++) {
      const plain = pool().query.bind(pool()) as (...args: unknown[]) => Promise<unknown>;
      const late = new Promise((resolve) => {
        vi.spyOn(pool(), 'query').mockImplementation(((...args: unknown[]) => {
          const answered = plain(...args);
          const isFlush = (args[0] as { name?: string }).name?.startsWith('flush') === true;
          if (isFlush) {
            vi.restoreAllMocks();
            void answered.then(async () => {
              for (let i = 0; i < steps; i++) await null;
              resolve(append(post([request()])));
            });
          }
          return answered;
        }) as never);
      });
      await append(post([request()]));
      const waiting = new Promise((resolve) => setTimeout(resolve, 3_000, `still waiting, ${steps} steps after`));
      expect(await Promise.race([late, waiting])).toEqual({ accepted: 1, duplicates: 0 });
      await appendIdle();
    }
  });

  it('makes a partition again that retention dropped', async () => {
    const old = { startedAtUs: (Date.now() - 20 * 86_400_000) * 1_000 };
    await append(post([request(old)]));
    const suffix = utcDay(old.startedAtUs).replaceAll('-', '');
    await database.query(`DROP TABLE hot_chunk_${suffix}, ledger_${suffix}`);
    expect(await append(post([request(old)]))).toEqual({ accepted: 1, duplicates: 0 });
  });
});
