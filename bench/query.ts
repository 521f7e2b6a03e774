// How long reads take on the roll-ups of 100 million requests in 28 days.
// npm run bench query [-- --requests=100000000 --keep=<folder that holds the data for the next run>]
//
// Data time: from the question to numbers, in the product's own read path, without rendering. Cold: a new process whose
// Postgres was restarted; warm: the median of nine more.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../bin/embeddedPostgres.mjs';
import type { Viewer } from '../lib/core/viewer';
import { migrate } from '../lib/db/migrate';
import { pool } from '../lib/db/pool';
import { loadBreakdown } from '../lib/queries/loadBreakdown';
import { loadOverview } from '../lib/queries/loadOverview';
import { loadQuantiles } from '../lib/queries/loadQuantiles';
import { parseQuantiles } from '../lib/queries/parseQuantiles';
import { parseScope } from '../lib/queries/scope';
import { compareWithRaw, makeRawRows, rollUpRawRows } from './support/rawYardstick';
import { CLIENT_REGIONS, ENDPOINTS, MODELS, storePeriod } from './support/rollups';

const REPEATS = 9;
const option = (name: string) => process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3);
const requestsIn28Days = Number(option('requests') ?? 100_000_000);
const keep = option('keep');
const END_S = Math.floor(Date.UTC(2026, 10, 30) / 1000);
const DAY_S = 86_400;

const dataDir = keep ?? mkdtempSync(path.join(os.tmpdir(), 'isochrone-bench-'));
mkdirSync(dataDir, { recursive: true });
let postgres = await startEmbeddedPostgres({ dataDir });
process.env.DATABASE_URL = postgres.url;
process.env.ISOCHRONE_SECRET = 'a secret for benchmarks of 32 characters';
try {
  await migrate({ connectionString: postgres.url });
  const [known] = (await pool().query<{ id: string }>(`SELECT id FROM project WHERE slug = 'bench'`)).rows;
  const projectId = known?.id ?? (await makeProject('bench'));
  const viewer: Viewer = { projectId, projectSlug: 'bench', userId: null, keyId: 'bench', role: 'reader' };
  if (known === undefined) await fill(projectId);
  const { rows } = await pool().query<{ size: string }>(`SELECT pg_total_relation_size('rollup') AS size`);
  console.log(`roll-ups: ${(Number(rows[0]!.size) / 1e9).toFixed(2)} GB for these groupings and families`);
  await restart();
  const figures: Record<string, number> = {};
  const only = option('only');
  for (const [name, ask] of Object.entries(questions(viewer))) {
    if (only !== undefined && !only.split(',').includes(name)) continue;
    const [coldMs, warmMs] = await time(ask);
    figures[`${name}ColdMs`] = coldMs;
    figures[`${name}Ms`] = warmMs;
    console.log(
      `${name.padEnd(24)} cold ${coldMs.toFixed(1).padStart(8)} ms   warm ${warmMs.toFixed(1).padStart(8)} ms`,
    );
  }
  const rawRows = Number(option('raw') ?? 20_000_000);
  if (rawRows > 0) {
    const raw = await makeProject('raw');
    await makeRawRows(pool(), { rows: rawRows, endS: END_S });
    await rollUpRawRows(pool(), raw, END_S);
    for (const [i, one] of (await compareWithRaw(pool(), raw, END_S)).entries()) {
      const { name, rawMs, ms, ratio, worstError } = one;
      console.log(
        `${name}: percentile_disc ${rawMs.toFixed(0)} ms, here ${ms.toFixed(1)} ms, ${ratio.toFixed(0)} times faster, ` +
          `off by ${(100 * worstError).toFixed(2)} % at most`,
      );
      figures[`raw${i + 1}Ratio`] = ratio;
      figures[`raw${i + 1}WorstError`] = worstError;
    }
  }
  await pool().end();
  console.log(JSON.stringify({ requests: requestsIn28Days, rawRows, ...figures }));
} finally {
  await postgres.stop();
  if (keep === undefined) rmSync(dataDir, { recursive: true, force: true });
}

async function makeProject(slug: string): Promise<string> {
  const { rows } = await pool().query<{ id: string }>(
    `INSERT INTO project (id, slug, name, time_zone) VALUES (gen_random_uuid(), $1, $1, 'UTC') RETURNING id`,
    [slug],
  );
  await pool().query(
    `INSERT INTO endpoint_class (project_id, endpoint, class, source, updated_at)
     SELECT $1, e, 'interactive', 'guessed', now() FROM unnest($2::text[]) AS e`,
    [rows[0]!.id, ENDPOINTS],
  );
  return rows[0]!.id;
}

async function fill(projectId: string): Promise<void> {
  const project = { id: projectId, requestsIn28Days };
  const client = await pool().connect();
  for (let day = 0; day < 28; day++) {
    await storePeriod(client, project, {
      tier: 'day',
      startS: END_S - (28 - day) * DAY_S,
      samples: ['thinE2e', 'sampleE2e'],
    });
  }
  for (let hour = 0; hour < 7 * 24; hour++) {
    const samples = hour >= 6 * 24 ? (['sampleE2e'] as const) : [];
    if (hour % 24 === 0) console.error(`hours from ${hour} on`);
    await storePeriod(client, project, { tier: 'hour', startS: END_S - (7 * 24 - hour) * 3600, samples });
  }
  for (let slot = 0; slot < 288; slot++)
    await storePeriod(client, project, { tier: '5min', startS: END_S - (288 - slot) * 300, samples: [] });
  client.release();
  await pool().query('ANALYZE rollup');
}

/** Empties the caches of this process and of Postgres. */
async function restart(): Promise<void> {
  await pool()
    .query('CHECKPOINT')
    .catch(() => {});
  await postgres.stop();
  postgres = await startEmbeddedPostgres({ dataDir });
}

async function time(ask: () => Promise<unknown>): Promise<[number, number]> {
  const once = async () => {
    const from = performance.now();
    await ask();
    return performance.now() - from;
  };
  const cold = await once();
  const warm: number[] = [];
  for (let i = 0; i < REPEATS; i++) warm.push(await once());
  return [cold, warm.sort((a, b) => a - b)[REPEATS >> 1]!];
}

function questions(viewer: Viewer): Record<string, () => Promise<unknown>> {
  const iso = (s: number) => new Date(s * 1000).toISOString();
  const days = (n: number) => `from=${iso(END_S - n * DAY_S)}&to=${iso(END_S)}`;
  // Begins and ends within an hour
  const ragged = (n: number) => `from=${iso(END_S - n * DAY_S + 1234)}&to=${iso(END_S - 5678)}`;
  const series = (query: string) => () => loadQuantiles({ viewer, input: parseQuantiles(new URLSearchParams(query)) });
  const overview = (query: string) => () => loadOverview({ viewer, input: parseScope(new URLSearchParams(query)) });
  const breakdown = (query: string) => () => loadBreakdown({ viewer, input: parseScope(new URLSearchParams(query)) });
  const one = `endpoint=${ENDPOINTS[0]}&clientRegion=${CLIENT_REGIONS[0]}`;
  return {
    cell: series(`${days(28)}&${one}&step=P1D`),
    cellRagged: series(`${ragged(7)}&${one}&step=PT1H`),
    endpointSeries: series(`${days(28)}&step=P1D&groupBy=endpoint`),
    fiveMinutes: series(`${days(1)}&endpoint=${ENDPOINTS[0]}&step=PT5M`),
    filter: series(`${days(28)}&endpoint=${ENDPOINTS[0]}&groupBy=clientRegion&step=P1D`),
    filterHour: series(`${days(7)}&endpoint=${ENDPOINTS[0]}&groupBy=clientRegion&step=PT1H`),
    filterOther: series(`${days(28)}&model=${MODELS[1]}&step=P1D`),
    filterOtherHour: series(`${days(7)}&model=${MODELS[1]}&step=PT1H`),
    firstScreen: overview(days(28)),
    firstScreenWeek: overview(ragged(7)),
    firstScreenDay: overview(days(1)),
    gains: breakdown(`${days(28)}&${one}`),
    breakdownWeek: breakdown(`${days(7)}&${one}`),
    breakdownAll: breakdown(days(28)),
  };
}
