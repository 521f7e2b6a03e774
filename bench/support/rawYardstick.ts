// The yardstick of reads: the same requests as plain rows with an index, asked with percentile_disc. The roll-ups beside
// them are counted from those very rows, bucket by bucket, so that both answers are of the same requests.

import type { Pool, PoolClient } from 'pg';
import { type Cell, type CellKey, coarsen, emptyCell, encodeCell, formatKey, type Tier } from '../../lib/core/cell';
import type { Histogram } from '../../lib/core/histogram';
import { toQuantiles } from '../../lib/core/quantile';
import { TERMS } from '../../lib/core/terms';
import { FINISHED, insertParts, type Part } from '../../lib/db/rollupStore';
import { withSnapshot } from '../../lib/db/snapshot';
import { ENDPOINTS } from './rollups';

const RAW_TERMS = ['connection', 'network', 'queue', 'modelHop', 'model'] as const;
const DAY_S = 86_400;

export async function makeRawRows(pool: Pool, { rows, endS }: { rows: number; endS: number }): Promise<void> {
  const total = ENDPOINTS.reduce((sum, _, i) => sum + 1 / (i + 1), 0);
  let sum = 0;
  const edges = ENDPOINTS.slice(0, -1).map((_, i) => {
    sum += 1 / (i + 1) / total;
    return sum;
  });
  const spread = (medianUs: number, sigma: number) =>
    `(${medianUs} * exp(${sigma} * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::bigint`;
  await pool.query(
    `CREATE TABLE raw_request (endpoint text NOT NULL, started_at bigint NOT NULL, e2e bigint NOT NULL,
      ${RAW_TERMS.map((term) => `"${term}" bigint NOT NULL`).join(', ')})`,
  );
  await pool.query(
    `INSERT INTO raw_request
     SELECT endpoint, at, "connection" + "network" + "queue" + "modelHop" + "model" + ${spread(9_000, 0.5)},
       ${RAW_TERMS.map((term) => `"${term}"`).join(', ')}
     FROM (SELECT ($1::text[])[1 + width_bucket(random(), $2::float8[])] AS endpoint,
         ($3 - random() * 28 * ${DAY_S})::bigint AS at, ${spread(30_000, 0.4)} AS "connection",
         ${spread(60_000, 0.2)} AS "network", ${spread(8_000, 0.9)} AS "queue", ${spread(25_000, 0.4)} AS "modelHop",
         ${spread(200_000, 0.5)} AS "model" FROM generate_series(1, $4)) AS drawn`,
    [ENDPOINTS, edges, endS, rows],
  );
  await pool.query('CREATE INDEX ON raw_request (endpoint, started_at)');
  await pool.query('VACUUM ANALYZE raw_request');
}

type Bucket = { endpoint: string; period: string; bucket: number; n: string; low: string; high: string };

const keyOf = (endpoint: string): CellKey => ({
  ...{ endpoint, clientRegion: null, serviceRegion: null, provider: null, model: null, modelRegion: null },
  ...{ version: null, vantage: 'client', environment: null, outcome: 'ok', cached: false },
});

function addBucket(histogram: Histogram, row: Bucket): void {
  const [n, low, high] = [Number(row.n), Number(row.low), Number(row.high)];
  histogram.n += n;
  histogram.weight += n;
  histogram.weightSquared += n;
  histogram.minUs = Math.min(histogram.minUs ?? low, low);
  histogram.maxUs = Math.max(histogram.maxUs ?? high, high);
  histogram.buckets.set(row.bucket, n);
}

/** One histogram an endpoint and period, counted by Postgres. */
function buckets(pool: Pool, column: string, range: { fromS: number; toS: number; stepS: number }): Promise<Bucket[]> {
  return pool
    .query<Bucket>(
      `SELECT endpoint, started_at - started_at % ${range.stepS} AS period,
         (ceil(ln("${column}" / 1e6::float8) / ln(2::float8) * 64) - 1)::int AS bucket, count(*) AS n,
         min("${column}") AS low, max("${column}") AS high
       FROM raw_request WHERE started_at >= $1 AND started_at < $2 GROUP BY 1, 2, 3`,
      [range.fromS, range.toS],
    )
    .then(({ rows }) => rows);
}

async function store(client: PoolClient, projectId: string, cells: Map<string, Cell>, tier: Tier): Promise<void> {
  const parts = new Map<string, Part & { cells: Map<string, Uint8Array> }>();
  for (const [name, cell] of cells) {
    const [period, endpoint] = name.split(' ') as [string, string];
    const part = parts.get(period) ?? {
      ...{ grouping: 'endpoint' as const, tier, family: cell.family, periodS: Number(period), cells: new Map() },
    };
    parts.set(period, part);
    part.cells.set(formatKey(coarsen(keyOf(endpoint), 'endpoint')), encodeCell(cell));
  }
  await insertParts(client, projectId, { parts: parts.values(), level: FINISHED });
}

/** Roll-ups of the raw rows: e2e of 28 days by day and of one day by 5 minutes, terms of 7 days. */
export async function rollUpRawRows(pool: Pool, projectId: string, endS: number): Promise<void> {
  const client = await pool.connect();
  try {
    for (const [tier, days, stepS] of [
      ['day', 28, DAY_S],
      ['5min', 1, 300],
    ] as const) {
      const cells = new Map<string, Cell>();
      for (const row of await buckets(pool, 'e2e', { fromS: endS - days * DAY_S, toS: endS, stepS })) {
        const name = `${row.period} ${row.endpoint}`;
        const cell = (cells.get(name) ?? emptyCell('e2e')) as ReturnType<typeof emptyCell<'e2e'>>;
        cells.set(name, cell);
        addBucket(cell.histogram, row);
      }
      await store(client, projectId, cells, tier);
    }
    const cells = new Map<string, Cell>();
    for (const term of RAW_TERMS)
      for (const row of await buckets(pool, term, { fromS: endS - 7 * DAY_S, toS: endS, stepS: DAY_S })) {
        const name = `${row.period} ${row.endpoint}`;
        const cell = (cells.get(name) ?? emptyCell('terms')) as ReturnType<typeof emptyCell<'terms'>>;
        cells.set(name, cell);
        addBucket(cell.histograms[TERMS.indexOf(term)]!, row);
      }
    await store(client, projectId, cells, 'day');
  } finally {
    client.release();
  }
}

export type Compared = { name: string; rawMs: number; ms: number; ratio: number; worstError: number };

async function timed<T>(work: () => Promise<T>, repeats: number): Promise<[T, number]> {
  const spent: number[] = [];
  let result = await work();
  for (let i = 0; i < repeats; i++) {
    const from = performance.now();
    result = await work();
    spent.push(performance.now() - from);
  }
  return [result, spent.sort((a, b) => a - b)[spent.length >> 1]!];
}

/** Each question asked of raw rows and of roll-ups; errors are relative, of every figure. */
export async function compareWithRaw(pool: Pool, projectId: string, endS: number): Promise<Compared[]> {
  const read = (tier: Tier, days: number, family: 'e2e' | 'terms', endpoint: string | null) =>
    withSnapshot(projectId, (snapshot) =>
      snapshot.read({
        ...{ grouping: 'endpoint', families: [family], fromUs: (endS - days * DAY_S) * 1e6, toUs: endS * 1e6 },
        ...{ finest: tier, coarsest: tier, byPeriod: tier === '5min' },
        ...(endpoint === null ? {} : { leading: [{ endpoint }] }),
      }),
    );
  const questions = [
    {
      name: 'p99 of each endpoint over 28 days',
      sql: `SELECT endpoint AS name, percentile_disc(0.99) WITHIN GROUP (ORDER BY e2e) AS us FROM raw_request
            WHERE started_at >= ${endS - 28 * DAY_S} AND started_at < ${endS} GROUP BY endpoint`,
      ours: async () =>
        new Map(
          (await read('day', 28, 'e2e', null)).periods
            .get(0)!
            .map(({ key, set }) => [key.endpoint!, p99Of((set.get('e2e') as { histogram: Histogram }).histogram)]),
        ),
    },
    {
      name: 'p99 of one endpoint over 24 hours by 5 minutes',
      sql: `SELECT (started_at - started_at % 300)::text AS name, percentile_disc(0.99) WITHIN GROUP (ORDER BY e2e) AS us
            FROM raw_request WHERE endpoint = '${ENDPOINTS[0]}' AND started_at >= ${endS - DAY_S} AND started_at < ${endS}
            GROUP BY 1`,
      ours: async () =>
        new Map(
          [...(await read('5min', 1, 'e2e', ENDPOINTS[0]!)).periods].map(([period, [member]]) => [
            String(period),
            p99Of((member!.set.get('e2e') as { histogram: Histogram }).histogram),
          ]),
        ),
    },
    {
      name: 'breakdown of each endpoint over 7 days',
      sql: RAW_TERMS.map(
        (term) => `SELECT endpoint || ' ${term}' AS name, percentile_disc(0.99) WITHIN GROUP (ORDER BY "${term}") AS us
          FROM raw_request WHERE started_at >= ${endS - 7 * DAY_S} AND started_at < ${endS} GROUP BY endpoint`,
      ).join(' UNION ALL '),
      ours: async () =>
        new Map(
          (await read('day', 7, 'terms', null)).periods.get(0)!.flatMap(({ key, set }) => {
            const { histograms } = set.get('terms') as { histograms: Histogram[] };
            return RAW_TERMS.map(
              (term) => [`${key.endpoint} ${term}`, p99Of(histograms[TERMS.indexOf(term)]!)] as const,
            );
          }),
        ),
    },
  ];
  const compared: Compared[] = [];
  for (const { name, sql, ours } of questions) {
    const [raw, rawMs] = await timed(async () => (await pool.query<{ name: string; us: string }>(sql)).rows, 1);
    const [answer, ms] = await timed(ours, 9);
    const errors = raw.map((row) => {
      const us = answer.get(row.name);
      // Fewer than 299 requests have no p99 by the display rule
      return us === undefined || us === null ? 0 : Math.abs(us / Number(row.us) - 1);
    });
    compared.push({ name, rawMs, ms, ratio: rawMs / ms, worstError: Math.max(...errors) });
  }
  return compared;
}

function p99Of(histogram: Histogram): number | null {
  const { ms } = toQuantiles(histogram).p99;
  return ms === null ? null : ms * 1000;
}
