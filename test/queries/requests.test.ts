import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GET as LIST } from '@/app/api/v1/requests/route';
import { hashKey } from '@/lib/auth/keys';
import type { TimedRequest } from '@/lib/core/request';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { pool } from '@/lib/db/pool';
import { loadRequest } from '@/lib/queries/loadRequest';
import { loadRequests, type RequestPage } from '@/lib/queries/loadRequests';
import { parseRequests } from '@/lib/queries/parseRequests';
import type { RequestLine } from '@/lib/queries/requestLine';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { anyRequest, aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
let other: Viewer;
const range = 'from=2026-11-19T00:00:00Z&to=2026-11-24T00:00:00Z';

const CALL = {
  ...{
    stage: 'llm',
    provider: 'p',
    model: 'm',
    modelRegion: null,
    startOffsetUs: 1000,
    durationUs: 9000,
    ttftUs: null,
  },
  ...{ hopUs: null, providerQueueUs: null, modelUs: 8000, attempts: 2, inputTokens: 5, outputTokens: 7 },
};
const generated: TimedRequest[] = fc.sample(anyRequest, { seed: 11, numRuns: 700 }).map((r, i) => ({
  ...r,
  id: `r-${i}`,
  e2eUs: i % 2 === 0 && r.decodeUs === null ? Math.max(r.e2eUs, 6_000_000) : r.e2eUs, // ties
  attributes: i % 3 === 0 ? { plan: i % 2 === 0 ? 'pro' : 'free', note: '=1+1' } : null,
}));
const special = aRequest({
  ...{ id: 'special', e2eUs: 150_000_000, calls: [CALL], sessionId: 's-1', inputTokens: 0 },
  dims: { ...aRequest().dims, endpoint: '=cmd()', clientRegion: 'us-east-1' },
});

async function viewerOf(slug: string): Promise<Viewer> {
  const [row] = await database.query<{ id: string }>(
    'INSERT INTO project (id, slug, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id',
    [slug],
  );
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES (gen_random_uuid(), $1, 'read', 'read', $2, 'iso', '{}')`,
    [row!.id, hashKey(`read_${slug}`)],
  );
  return { projectId: row!.id, projectSlug: slug, userId: null, keyId: 'test', role: 'reader' };
}

beforeAll(async () => {
  database = await createTestDatabase();
  viewer = await viewerOf('one');
  other = await viewerOf('two');
  const requests = [...generated, special];
  for (let at = 0; at < requests.length; at += 400) {
    const some = requests.slice(at, at + 400);
    await flush({ requests: some.map((request) => ({ projectId: viewer.projectId, request })), ledger: [] });
  }
  await flush({ requests: [{ projectId: other.projectId, request: aRequest({ id: 'secret' }) }], ledger: [] });
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const ask = (query: string, who = viewer) =>
  loadRequests({ viewer: who, input: parseRequests(new URLSearchParams(`${range}&${query}`)) });

async function everyPage(query: string): Promise<RequestLine[]> {
  const rows: RequestLine[] = [];
  for (let cursor = ''; ; ) {
    const page: RequestPage = await ask(`${query}&limit=151&cursor=${cursor}`);
    rows.push(...page.rows);
    if (page.next === null) return rows;
    cursor = page.next;
  }
}

const idsOf = async (where: string, order: string) =>
  (
    await database.query<{ id: string }>(
      `SELECT id FROM timed_request WHERE project_id = $1 AND started_at >= '2026-11-19Z' AND started_at < '2026-11-24Z'
         AND ${where} ORDER BY ${order}`,
      [viewer.projectId],
    )
  ).map((row) => row.id);

test('pages by key hold every request once, in order, ties included', async () => {
  for (const [order, by] of [
    ['slowest', 'e2e_us DESC, started_us DESC, id DESC'],
    ['newest', 'started_us DESC, id DESC'],
    ['oldest', 'started_us, id'],
  ] as const) {
    const rows = await everyPage(`order=${order}`);
    expect(rows.map((r) => r.id)).toEqual(await idsOf('true', by));
    expect(new Set(rows.map((r) => r.id)).size).toBe(generated.length + 1);
  }
});

test('filters say what SQL says', async () => {
  for (const [query, where] of [
    ['endpoint=/v1/a&outcome=timeout&outcome=ok', `endpoint = '/v1/a' AND outcome IN ('timeout', 'ok')`],
    ['clientRegion=us-east-1&attribute=plan:pro', `client_region = 'us-east-1' AND attributes->>'plan' = 'pro'`],
    ['minMs=1000&maxMs=3000', 'e2e_us >= 1000000 AND e2e_us < 3000000'],
    ['sessionId=s-1', `session_id = 's-1'`],
    ['endpoint=nobody', 'false'],
  ] as const) {
    const page = await ask(`${query}&limit=1000`);
    expect(page.rows.map((r) => r.id)).toEqual(await idsOf(where, 'e2e_us DESC, started_us DESC, id DESC'));
  }
});

test('terms of a line add up to its e2e; missing stays null', async () => {
  const { rows } = await ask('limit=1000');
  for (const row of rows) {
    const sum = Object.values(row.terms).reduce<number>((total, ms) => total + (ms ?? 0), 0);
    expect(sum).toBeCloseTo(row.e2eMs, 6);
  }
  const [row] = rows;
  expect(row).toMatchObject({ id: 'special', e2eMs: 150_000, calls: 1, inputTokens: 0, outputTokens: null });
  expect(row!.terms.model).toBeNull();
});

test('CSV and NDJSON stream the same rows, formulas disarmed', async () => {
  const get = async (format: string, query = '') =>
    LIST(
      new Request(`http://localhost/api/v1/requests?${range}&order=oldest&format=${format}${query}`, {
        headers: { authorization: 'Bearer read_one' },
      }),
    );
  const rows = await everyPage('order=oldest');
  const ndjson = await get('ndjson');
  const lines = (await ndjson.text()).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(rows)));
  const csv = await get('csv', '&endpoint=%3Dcmd()');
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  const [head, one, ...rest] = (await csv.text()).split('\r\n');
  expect(head!.split(',').slice(0, 3)).toEqual(['id', 'startedAt', 'endpoint']);
  expect(one).toMatch(/^special,2026-11-20T10:00:00.000Z,'=cmd\(\),client,/);
  const cells = one!.split(',');
  const column = (name: string) => cells[head!.split(',').indexOf(name)];
  expect([column('e2eMs'), column('modelMs'), column('inputTokens')]).toEqual(['150000', '', '0']);
  expect(rest).toEqual(['']);
  expect((await get('xlsx')).status).toBe(400);
});

test('one request: calls, evidence, and its rank as SQL counts it, folded or not', async () => {
  const detail = () =>
    loadRequest({ viewer, input: { id: 'r-7', startedAtUs: generated[7]!.startedAtUs, metric: 'e2e' } });
  const before = await detail();
  while ((await foldPending()).chunks > 0);
  const after = await detail();
  expect(after).toEqual(before);
  const { endpoint, clientRegion } = generated[7]!.dims;
  const [truth] = await database.query<{ n: number; low: number; high: number }>(
    `SELECT count(*)::int AS n, (sum(weight) FILTER (WHERE e2e_us < $3 * 0.989) / sum(weight))::float8 AS low,
       (sum(weight) FILTER (WHERE e2e_us < $3 * 1.011) / sum(weight))::float8 AS high
     FROM timed_request WHERE project_id = $1 AND endpoint = $2 AND client_region IS NOT DISTINCT FROM $4
       AND vantage = 'client' AND outcome <> 'error' AND coalesce(cache, 'none') NOT IN ('response', 'semantic')
       AND NOT (outcome = 'cancelled' AND ttft_us IS NOT NULL)`,
    [viewer.projectId, endpoint, generated[7]!.e2eUs, clientRegion],
  );
  expect(after.rank!.wait.n).toBe(truth!.n);
  expect(after.rank!.shareFaster).toBeGreaterThanOrEqual(truth!.low);
  expect(after.rank!.shareFaster).toBeLessThanOrEqual(truth!.high);
  const whole = await loadRequest({ viewer, input: { id: 'special', startedAtUs: null, metric: 'wait' } });
  expect(whole.callLines).toMatchObject([{ stage: 'llm', durationMs: 9, modelMs: 8, hopMs: null, attempts: 2 }]);
  expect(whole.evidence.model).toBe('missing');
});

test('an id of another project, and one that nobody sent, is not found', async () => {
  for (const id of ['secret', 'nobody'])
    await expect(loadRequest({ viewer, input: { id, startedAtUs: null, metric: 'wait' } })).rejects.toMatchObject({
      status: 404,
    });
  expect((await ask('', other)).rows.map((r) => r.id)).toEqual(['secret']);
});

test('bad parameters name themselves', () => {
  for (const bad of ['order=fastest', 'limit=0', 'cursor=abc', 'minMs=-1', 'attribute=plan', 'colour=red'])
    expect(() => parseRequests(new URLSearchParams(bad))).toThrow(new RegExp(bad.split('=')[0]!));
});
