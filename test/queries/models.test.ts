// The answer of the Models page against SQL over raw requests alone; JSON, CSV and the parser's refusals.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GET } from '@/app/api/v1/models/route';
import { hashKey } from '@/lib/auth/keys';
import { recordOutcomes } from '@/lib/commands/recordOutcomes';
import type { Value } from '@/lib/core/estimate';
import { newcombe, wilson } from '@/lib/core/models/proportion';
import type { TimedRequest } from '@/lib/core/request';
import type { Outcome } from '@/lib/core/terms';
import type { Viewer } from '@/lib/core/viewer';
import { pool } from '@/lib/db/pool';
import { createDraws } from '@/lib/demo/draws';
import { loadModels, type Models } from '@/lib/queries/loadModels';
import { parseModels } from '@/lib/queries/parseModels';
import { repairCells } from '@/lib/rollup/repair';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';
import { foldAll, store } from '../support/rollups';

let database: TestDatabase;
let viewer: Viewer;
let answer: Models;
const DAY_MS = Date.now() - (Date.now() % 86_400_000) - 20 * 86_400_000;
const N = 3_600;
const range = `from=${new Date(DAY_MS).toISOString()}&to=${new Date(DAY_MS + 86_400_000).toISOString()}`;

/** Model, provider, region of the host, share of the traffic, and how slow it is. */
const HOSTS = [
  ['large', 'own', 'us-east-1', 0.45, 1],
  ['large', 'cloud', 'us-west-2', 0.3, 1.3],
  ['small', 'own', 'us-east-1', 0.25, 0.6],
] as const;

const draws = createDraws('models of a day');
/** A day of one streaming endpoint: the second host gets the long prompts. */
const requests: TimedRequest[] = Array.from({ length: N }, (_, i) => {
  const at = draws.uniform();
  const [model, provider, modelRegion, , factor] = at < 0.45 ? HOSTS[0] : at < 0.75 ? HOSTS[1] : HOSTS[2];
  const isLong = draws.chance(provider === 'cloud' ? 0.7 : 0.3);
  const inputTokens = Math.round(draws.between(...((isLong ? [1_500, 6_000] : [100, 900]) as [number, number])));
  const outputTokens = Math.round(draws.between(20, 700));
  const ttftUs = Math.round((200_000 + 150 * inputTokens) * factor * draws.between(0.6, 1.6));
  const chance = draws.uniform();
  const outcome: Outcome = chance < 0.02 ? 'error' : chance < 0.03 ? 'timeout' : chance < 0.09 ? 'cancelled' : 'ok';
  const decodeUs = Math.round(outputTokens * 9_000 * factor * draws.between(0.8, 1.2));
  const isStreamed = outcome === 'ok' || (outcome === 'cancelled' && draws.chance(0.3));
  const cache = draws.chance(0.05) ? 'response' : null;
  return aRequest({
    ...{ id: `m${i}`, startedAtUs: (DAY_MS + i * (86_400_000 / N)) * 1_000, outcome, inputTokens, cache },
    dims: {
      ...aRequest().dims,
      ...{ endpoint: '/v1/chat', clientRegion: draws.pick(['eu-west-2', 'us-east-1']), model, provider, modelRegion },
    },
    ...(isStreamed
      ? { e2eUs: ttftUs + decodeUs, ttftUs, decodeUs, outputTokens }
      : { e2eUs: Math.round(draws.exponential(2) * 1e6) + 1_000 }),
    cachedInputTokens: draws.chance(0.4) ? Math.round(inputTokens * draws.uniform()) : 0,
    quality: draws.chance(0.2) ? Math.round(draws.between(0.4, 1) * 1_000) / 1_000 : null,
  });
});

async function ask(query: string): Promise<Models> {
  return loadModels({ viewer, input: parseModels(new URLSearchParams(`${range}&${query}`)) });
}

beforeAll(async () => {
  database = await createTestDatabase();
  const projectId = randomUUID();
  await database.query('INSERT INTO project (id, slug, name) VALUES ($1, $2, $2)', [projectId, 'models']);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES (gen_random_uuid(), $1, 'read', 'read', $2, 'iso', '{}')`,
    [projectId, hashKey('read_models')],
  );
  viewer = { projectId, projectSlug: 'models', userId: null, keyId: 'k', role: 'reader' };
  await store(projectId, requests.slice(0, 3_000));
  await foldAll();
  await store(projectId, requests.slice(3_000)); // stays pending
  // told later: what looked fine was not, and what answers were worth
  const later = requests.filter((r) => r.outcome === 'ok').slice(0, 400);
  const told = later.map((r, i) => ({
    ...{ id: r.id, startedAt: r.startedAtUs / 1_000, quality: (i % 10) / 10 },
    ...(i % 20 === 0 ? { outcome: 'error' } : {}),
  }));
  const { rejected } = await recordOutcomes(projectId, { input: told, nowMs: Date.now() });
  expect(rejected).toEqual([]);
  while (await repairCells());
  await database.query(`CREATE VIEW live AS SELECT *, CASE WHEN ttft_us IS NOT NULL THEN ttft_us
      WHEN outcome <> 'ok' THEN e2e_us END AS wait FROM timed_request WHERE coalesce(cache, '') <> 'response'`);
  answer = await ask('metric=wait');
}, 120_000);
afterAll(async () => {
  await pool().end();
  await database.drop();
});

/** Within what the histogram may be off. */
const expectNear = (value: Value, ms: number) => {
  expect(value.ms, `${ms} ms`).not.toBeNull();
  expect(Math.abs(value.ms! / ms - 1)).toBeLessThan(0.0055);
};

type Counted = Record<'n' | 'ok' | 'error' | 'timeout' | 'cancelled', number> & { quality: number; rated: number };
const COUNTED = `count(*)::int AS n, count(*) FILTER (WHERE outcome = 'ok')::int AS ok,
  count(*) FILTER (WHERE outcome = 'error')::int AS error, count(*) FILTER (WHERE outcome = 'timeout')::int AS timeout,
  count(*) FILTER (WHERE outcome = 'cancelled')::int AS cancelled, avg(quality)::float8 AS quality,
  count(quality)::int AS rated`;

describe('models and hosts', () => {
  it('have the counts, success and quality of SQL, told late or not', async () => {
    expect(answer).toMatchObject({ endpoint: '/v1/chat', endpointClass: 'stream', basis: 'ttft', complete: true });
    expect(answer.models.map(({ model, provider }) => `${provider}/${model}`)).toHaveLength(3);
    for (const row of answer.models) {
      const [truth] = await database.query<Counted>(`SELECT ${COUNTED} FROM live WHERE model = $1 AND provider = $2`, [
        row.model,
        row.provider,
      ]);
      const { n, ok, error, timeout, cancelled, quality, rated } = truth!;
      expect([row.n, row.outcomes]).toEqual([n, { ok, error, timeout, cancelled }]);
      expect(row.success).toEqual(wilson(ok / (ok + error + timeout), ok + error + timeout));
      expect(row.quality.n).toBe(rated);
      expect(row.quality.value).toBeCloseTo(quality, 3);
    }
    const corrected = answer.models.reduce((sum, row) => sum + row.outcomes.error, 0);
    expect(corrected).toBeGreaterThan(requests.filter((r) => r.outcome === 'error' && r.cache === null).length);
    expect(answer.hosts.reduce((sum, row) => sum + row.n, 0)).toBe(answer.models.reduce((sum, row) => sum + row.n, 0));
  });

  it('have the percentiles of SQL: wait, first token, time per token, tokens per second', async () => {
    const at = (q: number, what: string) => `percentile_disc(${q}) WITHIN GROUP (ORDER BY ${what})::float8`;
    const streamed = `outcome = 'ok' AND ttft_us < e2e_us AND output_tokens > 1`;
    for (const row of answer.models) {
      const [truth] = await database.query<Record<'p50' | 'p99' | 'tpot' | 'tps' | 'input', number>>(
        `SELECT ${at(0.5, 'wait')} / 1000 AS p50, ${at(0.99, 'wait')} / 1000 AS p99,
           (SELECT ${at(0.5, '(e2e_us - ttft_us)::float8 / (output_tokens - 1)')} / 1000 FROM live
            WHERE model = $1 AND provider = $2 AND ${streamed}) AS tpot,
           (SELECT ${at(0.5, 'output_tokens / (e2e_us / 1e6::float8)')} FROM live
            WHERE model = $1 AND provider = $2 AND outcome = 'ok') AS tps,
           (SELECT avg(input_tokens)::float8 FROM live WHERE model = $1 AND provider = $2) AS input
         FROM live WHERE model = $1 AND provider = $2 AND outcome <> 'error' AND wait IS NOT NULL`,
        [row.model, row.provider],
      );
      expectNear(row.wait.p50, truth!.p50);
      expectNear(row.wait.p99, truth!.p99);
      expect(row.tpot.p50.ms).toBeCloseTo(truth!.tpot, 6);
      expect(row.tokensPerSecond.value).toBeCloseTo(truth!.tps, 6);
      expect(row.inputTokens).toBeCloseTo(truth!.input, 6);
    }
  });
});

type Side = { provider: string; model: string };

/** A percentile (ms) of two sides on the strata that both have five of, each stratum with its share of the target. */
async function matchedBySql(of: { a: Side; b: Side; strata: string; target: string; q: number }) {
  const [row] = await database.query<Record<'a' | 'b' | 'share', number>>(
    `WITH side AS (
       SELECT wait, provider || '/' || model AS host, concat_ws('|', ${of.strata}) AS stratum FROM live
       WHERE outcome <> 'error' AND wait IS NOT NULL),
     a AS (SELECT * FROM side WHERE host = $1), b AS (SELECT * FROM side WHERE host = $2),
     common AS (
       SELECT stratum, x.n AS an, y.n AS bn FROM (SELECT stratum, count(*)::float8 AS n FROM a GROUP BY 1) x
       JOIN (SELECT stratum, count(*)::float8 AS n FROM b GROUP BY 1) y USING (stratum) WHERE x.n >= 5 AND y.n >= 5),
     mix AS (SELECT stratum, an, bn, an / sum(an) OVER () AS reference,
       (an / sum(an) OVER () + bn / sum(bn) OVER ()) / 2 AS pooled FROM common),
     wa AS (SELECT wait, sum(${of.target} / an) OVER (ORDER BY wait, stratum, a.ctid_) AS cum
       FROM (SELECT *, row_number() OVER () AS ctid_ FROM a) a JOIN mix USING (stratum)),
     wb AS (SELECT wait, sum(${of.target} / bn) OVER (ORDER BY wait, stratum, b.ctid_) AS cum
       FROM (SELECT *, row_number() OVER () AS ctid_ FROM b) b JOIN mix USING (stratum))
     SELECT (SELECT min(wait) FROM wa WHERE cum >= $3::float8 - 1e-9)::float8 / 1000 AS a,
       (SELECT min(wait) FROM wb WHERE cum >= $3::float8 - 1e-9)::float8 / 1000 AS b,
       (SELECT sum(an) FROM common) / (SELECT count(*) FROM a) AS share`,
    [`${of.a.provider}/${of.a.model}`, `${of.b.provider}/${of.b.model}`, of.q],
  );
  return row!;
}

const INPUT = 'floor(log(2, input_tokens::numeric))';
const OUTPUT = `coalesce(ceil((floor(log(2, output_tokens::numeric)) + 1) / 2)::text, 'none')`;
const large = { provider: 'own', model: 'large' };

describe('comparisons', () => {
  it('a swap has the gain that SQL finds on the strata of both, and the difference of success', async () => {
    expect(answer.current).toBe('own/large');
    const swap = answer.swaps.find(({ model }) => model === 'small')!;
    expect(swap.matchedOn).toEqual(['region', 'inputTokens']);
    for (const [key, q] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const strata = `client_region, ${INPUT}`;
      const b = { provider: 'own', model: 'small' };
      const truth = await matchedBySql({ a: large, b, strata, target: 'reference', q });
      expect(swap[key].current.ms).toBeCloseTo(truth.a, 6);
      expect(swap[key].candidate.ms).toBeCloseTo(truth.b, 6);
      expect(swap[key].gain.ms).toBeCloseTo(truth.a - truth.b, 6);
      expect(swap.matchedShare).toBeCloseTo(truth.share, 9);
    }
    const success = (name: string) =>
      answer.models.find(({ model, provider }) => `${provider}/${model}` === name)!.success;
    expect(swap.success).toEqual(newcombe(success('own/small'), success('own/large')));
    // a few hundred requests do not show that success falls by less than half a point
    expect([swap.isRecommended, swap.reasons]).toEqual([false, ['success_may_drop']]);
  });

  it('and may be recommended where the project allows more', async () => {
    await database.query('UPDATE project SET success_drop_max = 0.1');
    const { swaps, successDropMax } = await ask('');
    expect([successDropMax, swaps.find(({ model }) => model === 'small')!.isRecommended]).toEqual([0.1, true]);
    const slower = swaps.find(({ provider }) => provider === 'cloud')!;
    expect([slower.isRecommended, slower.reasons]).toEqual([false, ['slower']]);
    await database.query('UPDATE project SET success_drop_max = DEFAULT');
  });

  it('hosts of one model are matched on region and tokens as SQL matches them', async () => {
    const [pair, ...others] = answer.hostPairs;
    expect(others).toEqual([]);
    expect([pair!.reference.provider, pair!.candidate.provider, pair!.matchedOn]).toEqual([
      'own',
      'cloud',
      ['region', 'inputTokens', 'outputTokens'],
    ]);
    const b = { provider: 'cloud', model: 'large' };
    const strata = `client_region, ${INPUT}, ${OUTPUT}`;
    // who was cancelled without an answer tells no output tokens, and lies in no stratum
    const question = { a: large, b, strata, target: 'pooled' };
    await database.query('ALTER VIEW live RENAME TO everything');
    await database.query(`CREATE VIEW live AS SELECT * FROM everything WHERE output_tokens IS NOT NULL`);
    const [p50, p99] = [await matchedBySql({ ...question, q: 0.5 }), await matchedBySql({ ...question, q: 0.99 })];
    await database.query('DROP VIEW live');
    await database.query('ALTER VIEW everything RENAME TO live');
    expect(pair!.p50.difference.ms).toBeCloseTo(p50.b - p50.a, 6);
    expect(pair!.p99.difference.ms).toBeCloseTo(p99.b - p99.a, 6);
    // 30 % slower at equal tokens; unmatched its longer prompts would make it look like twice that
    expect(pair!.p50.difference.ms! / pair!.p50.reference.ms!).toBeGreaterThan(0.2);
    expect(pair!.p50.difference.ms! / pair!.p50.reference.ms!).toBeLessThan(0.4);
    expect(pair!.p50.difference.lowMs!).toBeGreaterThan(0);
  });

  it('tells longer prompts from a slower host', () => {
    const cause = answer.causes.find(({ to }) => to === 'cloud/large')!;
    expect(cause.isClaimed).toBe(true);
    const claimed = cause.causes.filter(({ isClaimed }) => isClaimed).map((one) => one.cause);
    expect(claimed).toEqual(['inputTokens', 'same']);
    const before = answer.causes.find(({ kind }) => kind === 'time')!;
    expect([before.isClaimed, before.beforeShare]).toEqual([false, null]);
  });
});

describe('what else', () => {
  it('latency by input tokens is that of SQL', async () => {
    const rows = await database.query<{ model: string; bin: number; n: number; p50: number }>(
      `SELECT provider || '/' || model AS model, ${INPUT}::int AS bin, count(*)::int AS n,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY wait)::float8 / 1000 AS p50
       FROM live WHERE outcome <> 'error' AND wait IS NOT NULL GROUP BY 1, 2`,
    );
    const shown = answer.bins.filter(({ by }) => by === 'inputTokens');
    expect(shown).toHaveLength(rows.length);
    for (const { model, bin, n, p50 } of rows) {
      const found = shown.find((one) => one.model === model && one.from === 2 ** bin)!;
      expect(found.n).toBe(n);
      if (n >= 6) expect(found.p50.ms).toBeCloseTo(p50, 6);
    }
  });

  it('requests in flight follow Little’s law over the five minutes of each request', async () => {
    expect(answer.loadSource).toBe('little');
    const rows = await database.query<{ load: number; n: number }>(
      `WITH slots AS (SELECT started_us / 300000000 AS slot, sum(e2e_us) / 3e8 AS load FROM live
         WHERE outcome <> 'error' AND NOT (outcome = 'cancelled' AND ttft_us IS NOT NULL) GROUP BY 1)
       SELECT load::float8 AS load, count(*)::int AS n FROM live JOIN slots ON slot = started_us / 300000000
       WHERE outcome <> 'error' AND wait IS NOT NULL GROUP BY slot, load`,
    );
    const isNearEdge = (load: number) => [1, 2, 4].some((edge) => Math.abs(load / edge - 1) < 0.006);
    const slack = rows.reduce((sum, { load, n }) => sum + (isNearEdge(load) ? n : 0), 0);
    const truth = (from: number, below: number) =>
      rows.reduce((sum, { load, n }) => sum + (load >= from && load < below ? n : 0), 0);
    for (const [from, below] of [
      [0, 1],
      [1, 2],
    ] as const) {
      const shown = answer.bins.filter((bin) => bin.by === 'inFlight' && bin.from === from);
      expect(Math.abs(shown.reduce((sum, { n }) => sum + n, 0) - truth(from, below))).toBeLessThanOrEqual(slack);
    }
  });

  it('who left, and when, is as SQL counts it', async () => {
    const [truth] = await database.query<{ left: number; waited: number; early: number; late: number }>(
      `SELECT count(*) FILTER (WHERE gone)::int AS left, count(*)::int AS waited,
         count(*) FILTER (WHERE gone AND wait < 1000000)::int AS early,
         count(*) FILTER (WHERE wait >= 1000000)::int AS late
       FROM (SELECT wait, outcome = 'cancelled' AND ttft_us IS NULL AS gone FROM live
             WHERE outcome <> 'error' AND wait IS NOT NULL) w`,
    );
    const { left, waited, bins } = answer.abandonment!;
    expect({ left, waited }).toEqual({ left: truth!.left, waited: truth!.waited });
    // a wait on the edge of a bin may fall on either side: the histogram's 0.55 %
    const early = bins.filter(({ toMs }) => toMs !== null && toMs <= 1_000).reduce((sum, bin) => sum + bin.left, 0);
    expect(Math.abs(early - truth!.early)).toBeLessThanOrEqual(2);
    expect(Math.abs(bins.find(({ fromMs }) => fromMs === 1_000)!.waiting - truth!.late)).toBeLessThanOrEqual(20);
  });

  it('cache hits stand apart', async () => {
    const [truth] = await database.query<{ hits: number; all: number; p50: number; tokens: number; hit: number }>(
      `SELECT (SELECT count(*)::int FROM timed_request WHERE cache = 'response') AS hits, count(*)::int AS all,
         (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(ttft_us, e2e_us))::float8 / 1000 FROM timed_request
          WHERE cache = 'response' AND outcome <> 'error' AND (ttft_us IS NOT NULL OR outcome <> 'ok')) AS p50,
         sum(cached_input_tokens) FILTER (WHERE wait IS NOT NULL AND outcome <> 'error')::float8
           / sum(input_tokens) FILTER (WHERE wait IS NOT NULL AND outcome <> 'error') AS tokens,
         avg((cached_input_tokens > 0)::int) FILTER (WHERE wait IS NOT NULL AND outcome <> 'error')::float8 AS hit
       FROM timed_request WHERE coalesce(cache, '') <> 'response'`.replaceAll(
        'wait IS',
        "coalesce(ttft_us, CASE WHEN outcome <> 'ok' THEN e2e_us END) IS",
      ),
    );
    const { responseCache, promptCache } = answer;
    expect(responseCache!.hits).toBe(truth!.hits);
    expect(responseCache!.share).toEqual(wilson(truth!.hits / (truth!.hits + truth!.all), truth!.hits + truth!.all));
    expectNear(responseCache!.hit.p50, truth!.p50);
    expect(promptCache!.tokenShare).toBeCloseTo(truth!.tokens, 9);
    expect(promptCache!.hitShare.share).toBeCloseTo(truth!.hit, 9);
  });
});

describe('the API', () => {
  const call = (query: string) =>
    GET(new Request(`http://localhost/api/v1/models?${query}`, { headers: { authorization: 'Bearer read_models' } }));

  it('answers what the query says, as JSON and as CSV', async () => {
    const json = (await (await call(range)).json()) as Models;
    expect({ ...json, asOf: '' }).toEqual({ ...JSON.parse(JSON.stringify(answer)), asOf: '' });
    const csv = await call(`${range}&format=csv&table=models`);
    expect(csv.headers.get('content-disposition')).toContain('models-models.csv');
    const [heading, ...lines] = (await csv.text()).trimEnd().split('\r\n');
    expect(lines).toHaveLength(3);
    const column = heading!.split(',').indexOf('wait_p99_ms');
    expect(lines.map((line) => Number(line.split(',')[column]))).toEqual(answer.models.map((row) => row.wait.p99.ms));
    for (const [table, n] of [
      ['hosts', answer.hosts.length],
      ['swaps', answer.swaps.length],
      ['matched', answer.hostPairs.length],
      ['abandonment', answer.abandonment!.bins.length],
      ['bins', answer.bins.length],
      ['causes', answer.causes.flatMap(({ causes }) => causes).length],
      ['cache', 2],
    ] as const) {
      const text = await (await call(`${range}&format=csv&table=${table}`)).text();
      expect(text.trimEnd().split('\r\n'), table).toHaveLength(n + 1);
    }
  });

  it('says what it does not know', async () => {
    for (const query of ['table=x', 'beforeFrom=2026-01-01T00:00:00Z', 'colour=red', 'beforeFrom=x&beforeTo=y'])
      expect((await call(query)).status, query).toBe(400);
    const none = (await (await call('endpoint=/nowhere')).json()) as Models;
    expect(none).toMatchObject({ endpoint: null, models: [], swaps: [], abandonment: null });
  });
});
