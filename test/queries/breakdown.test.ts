import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { loadBreakdown } from '@/lib/queries/loadBreakdown';
import { loadOverview } from '@/lib/queries/loadOverview';
import { loadQuantiles } from '@/lib/queries/loadQuantiles';
import { parseQuantiles } from '@/lib/queries/parseQuantiles';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { anyRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
const range = 'from=2026-11-19T00:00:00Z&to=2026-11-24T00:00:00Z';

const requests: TimedRequest[] = fc
  .sample(anyRequest, { seed: 7, numRuns: 4000 })
  .map((r, i) => ({ ...r, id: `q-${i}`, dims: { ...r.dims, vantage: i % 10 === 0 ? 'service' : 'client' } }));

async function viewerOf(slug: string): Promise<Viewer> {
  const [row] = await database.query<{ id: string }>(
    'INSERT INTO project (id, slug, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id',
    [slug],
  );
  return { projectId: row!.id, projectSlug: slug, userId: null, keyId: 'test', role: 'reader' };
}

beforeAll(async () => {
  database = await createTestDatabase();
  viewer = await viewerOf('queries');
  const { projectId } = viewer;
  await ensurePartitions(new Set(requests.map((r) => utcDay(r.startedAtUs))));
  for (let at = 0; at < requests.length; at += 1000) {
    const some = requests.slice(at, at + 1000);
    await flush({ requests: some.map((request) => ({ projectId, request })), ledger: [] });
    // Some stay pending, so that reads unite what is folded and what is not.
    if (at < 3000) await foldPending();
  }
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const ask = (query: string) => loadBreakdown({ viewer, input: parseScope(new URLSearchParams(`${range}&${query}`)) });

/** The exact answer: nearest rank over every unit of weight, in plain SQL over the view. */
async function exact(where: string, value = 'e2e_us'): Promise<{ n: number; p50: number; p99: number }> {
  const [row] = await database.query<{ n: number; p50: number; p99: number }>(
    `SELECT count(DISTINCT id)::int AS n, (percentile_disc(0.5) WITHIN GROUP (ORDER BY ${value}) / 1000.0)::float8 AS p50,
       (percentile_disc(0.99) WITHIN GROUP (ORDER BY ${value}) / 1000.0)::float8 AS p99
     FROM timed_request, generate_series(1, weight)
     WHERE project_id = $1 AND outcome <> 'error' AND coalesce(cache, 'none') NOT IN ('response', 'semantic')
       AND vantage = 'client' AND ${value} IS NOT NULL AND ${where}`,
    [viewer.projectId],
  );
  return row!;
}

const e2eCounts = `NOT (outcome = 'cancelled' AND ttft_us IS NOT NULL)`;

test('percentiles agree with percentile_disc over the view, folded or not', async () => {
  for (const [query, where] of [
    ['endpoint=/v1/a&metric=e2e', `endpoint = '/v1/a'`],
    ['metric=e2e&clientRegion=eu-west-2', `client_region = 'eu-west-2'`],
    ['metric=e2e&serviceRegion=us-east-1', `service_region = 'us-east-1'`],
  ] as const) {
    const answer = await ask(query);
    const truth = await exact(`${where} AND ${e2eCounts}`);
    expect(answer.quantiles.e2e.n).toBe(truth.n);
    expect(answer.quantiles.wait).toEqual(answer.quantiles.e2e);
    expect(Math.abs(answer.quantiles.e2e.p50.ms! / truth.p50 - 1)).toBeLessThan(0.006);
    expect(Math.abs(answer.quantiles.e2e.p99.ms! / truth.p99 - 1)).toBeLessThan(0.006);
    const model = await exact(where, 'model_us');
    expect(answer.quantiles.terms.model.n).toBe(model.n);
    expect(Math.abs(answer.quantiles.terms.model.p50.ms! / model.p50 - 1)).toBeLessThan(0.006);
  }
});

test('errors, cache hits and the other vantage are apart; anatomy adds up', async () => {
  const answer = await ask('endpoint=/v1/a&metric=e2e');
  const [counts] = await database.query<{ errors: number; cached: number }>(
    `SELECT count(*) FILTER (WHERE outcome = 'error' AND coalesce(cache, 'none') NOT IN ('response', 'semantic'))::int AS errors,
       count(*) FILTER (WHERE cache IN ('response', 'semantic'))::int AS cached
     FROM timed_request WHERE project_id = $1 AND vantage = 'client' AND endpoint = '/v1/a'`,
    [viewer.projectId],
  );
  expect(answer.vantage).toBe('client');
  expect(answer.excluded).toMatchObject(counts!);
  for (const point of answer.anatomy) {
    const sum = Object.values(point.terms).reduce((a, b) => a + b, 0);
    expect(Math.abs(sum - point.waitMs)).toBeLessThan(1e-6 * point.waitMs);
  }
  expect(answer.gains.coldStart.p99.ms).toBeGreaterThan(0);
});

test('several endpoints are never pooled into one gain', async () => {
  const answer = await ask('metric=e2e');
  expect(answer.reason).toBe('several_endpoints');
  expect(answer.largestAvoidable).toBeNull();
  expect(answer.gains.queue.p99).toMatchObject({ ms: null, reason: 'no_data' });
});

test('the overview counts its default objectives exactly and shows every cell', async () => {
  const overview = await loadOverview({ viewer, input: parseScope(new URLSearchParams(range)) });
  const [line] = overview.slos;
  const basis = line!.metric === 'e2e' ? 'e2e_us' : 'ttft_us';
  const [truth] = await database.query<{ good: number; ok: number }>(
    `SELECT coalesce(sum(weight) FILTER (WHERE ${basis} <= ${line!.thresholdMs * 1000}), 0)::int AS good, sum(weight)::int AS ok
     FROM timed_request WHERE project_id = $1 AND vantage = 'client' AND outcome = 'ok'
       AND coalesce(cache, 'none') NOT IN ('response', 'semantic') AND endpoint = ANY($2)`,
    [viewer.projectId, line!.endpoints],
  );
  expect(line!.good).toBe(truth!.good);
  expect(line!.successRatio).toBeCloseTo(truth!.ok / line!.total, 9);
  expect(overview.cells.length).toBe(6);
  expect(overview.headline).not.toBeNull();
});

const countWhere = async (where: string): Promise<number> => {
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM timed_request WHERE project_id = $1 AND vantage = 'client'
       AND coalesce(cache, 'none') NOT IN ('response', 'semantic') AND ${where}`,
    [viewer.projectId],
  );
  return row!.n;
};

test('a filter by outcome counts that outcome; errors have no duration', async () => {
  for (const outcome of ['ok', 'error', 'timeout', 'cancelled']) {
    const answer = await ask(`endpoint=/v1/a&outcome=${outcome}`);
    expect(answer.count).toBe(await countWhere(`endpoint = '/v1/a' AND outcome = '${outcome}'`));
  }
  const errors = await ask('endpoint=/v1/a&outcome=error');
  expect(errors.quantiles.wait).toMatchObject({ n: 0, p50: { ms: null, reason: 'no_data' } });
});

test('the vantage is chosen before the filters: one that only the service saw answers nothing, not the service', async () => {
  const service = requests.find((r) => r.dims.vantage === 'service')!;
  const only = {
    ...service,
    outcome: 'ok' as const,
    cache: null,
    id: 'only-service',
    dims: { ...service.dims, endpoint: '/v1/inside' },
  };
  await flush({ requests: [{ projectId: viewer.projectId, request: only }], ledger: [] });
  expect(await ask('endpoint=/v1/inside')).toMatchObject({ vantage: 'client', count: 0, reason: 'no_data' });
  expect((await ask('endpoint=/v1/inside&vantage=service')).count).toBe(1);
});

test('filters that roll-ups keep no anatomy by: the same endpoint, cells with windows, an overview with its sentence', async () => {
  const filtered = await ask('endpoint=/v1/a&serviceRegion=us-east-1&metric=e2e');
  expect(filtered.count).toBe(
    await countWhere(`endpoint = '/v1/a' AND service_region = 'us-east-1' AND outcome <> 'error'`),
  );
  expect(filtered.reason).not.toBe('several_endpoints');
  const p50 = filtered.anatomy.find((point) => point.percentile === 50)!;
  expect(p50.waitMs / filtered.quantiles.wait.p50.ms!).toBeGreaterThan(0.9);
  expect(p50.waitMs / filtered.quantiles.wait.p50.ms!).toBeLessThan(1.1);
  for (const cell of filtered.cells) expect(cell.anatomyP50?.waitMs).toBeGreaterThan(0);
  const input = parseScope(new URLSearchParams(`${range}&serviceRegion=us-east-1`));
  const overview = await loadOverview({ viewer, input });
  expect(overview.cells.length).toBeGreaterThan(0);
  expect(overview.headline!.anatomy.length).toBeGreaterThan(0);
  expect(overview.slos.reduce((sum, line) => sum + line.total, 0)).toBeGreaterThan(0);
});

test('times are written in the zone asked for; the days stay those of the project', async () => {
  const answer = await ask('endpoint=/v1/a&timeZone=Asia/Kathmandu');
  expect(answer.effectiveFrom).toBe('2026-11-19T05:45:00.000+05:45');
  expect(answer.timeZone).toBe('UTC');
});

test('quantiles over time: empty buckets are there without a value, counts add up', async () => {
  const load = (query: string) =>
    loadQuantiles({ viewer, input: parseQuantiles(new URLSearchParams(`${range}&metric=e2e&${query}`)) });
  const series = await load('q=0.5&step=PT1H&groupBy=endpoint');
  const one = series.series.find((s) => s.group === '/v1/a')!;
  expect(one.points).toHaveLength(5 * 24);
  expect(one.points[0]).toMatchObject({ n: 0, value: { ms: null, reason: 'no_data' } });
  const truth = await exact(`endpoint = '/v1/a' AND ${e2eCounts}`);
  expect(one.points.reduce((sum, p) => sum + p.n, 0)).toBe(truth.n);
  await expect(load('step=PT5M&groupBy=model')).rejects.toMatchObject({ status: 400 });
  await expect(
    loadQuantiles({
      viewer,
      input: parseQuantiles(new URLSearchParams(`${range}&step=PT5M&groupBy=clientRegion`)),
    }),
  ).rejects.toMatchObject({ status: 400, hint: expect.stringMatching(/metric=e2e/) });
});

test('with SELECT on raw revoked after folding, both pages still answer, and the same', async () => {
  const input = parseScope(new URLSearchParams(`${range}&endpoint=/v1/a`));
  const both = async () => {
    const { asOf: _, ...breakdown } = await loadBreakdown({ viewer, input });
    const { asOf: __, newestEventAt: ___, ...overview } = await loadOverview({ viewer, input });
    return { breakdown, overview };
  };
  const before = await both();
  while ((await foldPending()).chunks > 0);
  await database.query('REVOKE SELECT ON hot_chunk, timed_request FROM isochrone');
  try {
    expect(await both()).toEqual(before);
  } finally {
    await database.query('GRANT SELECT ON hot_chunk, timed_request TO isochrone');
  }
});

test('an empty project answers with no data; bad parameters name themselves', async () => {
  const empty = await viewerOf('empty');
  const input = parseScope(new URLSearchParams(range));
  const breakdown = await loadBreakdown({ viewer: empty, input });
  expect(breakdown).toMatchObject({ count: 0, reason: 'no_data', anatomy: [], largestAvoidable: null });
  const overview = await loadOverview({ viewer: empty, input });
  expect(overview).toMatchObject({ cells: [], headline: null, newestEventAt: null });
  for (const bad of [
    'metric=p50',
    'from=yesterday',
    'from=2026-11-20T00:00:00',
    'metric=e2e&metric=ttft',
    'from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z',
    'colour=red',
  ]) {
    expect(() => parseScope(new URLSearchParams(bad))).toThrow(new RegExp(bad.split('=')[0]!));
  }
});
