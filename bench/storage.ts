// Bytes a request takes, all tiers together, on the traffic of 100 million requests in 28 days (148,810 an hour): some
// whole hours go the way of the product (flush, fold, seal), then pg_total_relation_size is read. `npm run bench storage
// 24` measures a whole day; fewer hours are quicker and count the day tier for several times what it is.
//
// To 28 days: raw, hour and day tiers grow with the days; the 5-minute tier is kept 14 of them, samples of hours six, the
// ledger one, and what is not sealed yet is 70 minutes.

import { randomBytes } from 'node:crypto';
import { FAMILIES, GROUPINGS, TIERS } from '../lib/core/cell';
import type { TimedRequest } from '../lib/core/request';
import { HOUR_SAMPLE_DAYS } from '../lib/core/sample';
import { flush } from '../lib/db/flush';
import { keyOfIds } from '../lib/db/ledger';
import { utcDay } from '../lib/db/partitions';
import { pool } from '../lib/db/pool';
import { type RequestFilter, readRequestById, readRequests } from '../lib/db/readRequests';
import { attribute } from '../lib/ingest/attribute';
import { eventSchema } from '../lib/ingest/contract';
import { foldPending } from '../lib/rollup/foldPending';
import { compactAll } from '../lib/rollup/rebuildProject';
import { sealProject } from '../lib/rollup/seal';
import { startTestbed, type Testbed } from './support/testbed';
import { drawEvent, seeded } from './support/traffic';

const PER_HOUR = 148_810;
const HOUR_MS = 3_600_000;
const DAYS = 28;
const POST = 50;
const FLUSH = 600;

const hours = Number(process.argv[2] ?? 24);
const firstHourMs = Math.floor((Date.now() - 48 * HOUR_MS) / (24 * HOUR_MS)) * 24 * HOUR_MS;

function uuid(random: () => number): string {
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** The requests of an hour in the order they began, to the millisecond, with random ids. */
function requestsOfHour(hourMs: number): TimedRequest[] {
  const random = seeded(Math.floor(hourMs / HOUR_MS));
  const times = Float64Array.from({ length: PER_HOUR }, () => hourMs + Math.floor(random() * HOUR_MS)).sort();
  return Array.from(times, (startedAt) => {
    const event = eventSchema.parse({ ...drawEvent(random), id: uuid(random), startedAt });
    return attribute(event, { startedAtUs: startedAt * 1_000, defaultVantage: 'service' }).request;
  });
}

async function ingest(projectId: string, requests: readonly TimedRequest[]): Promise<void> {
  for (let at = 0; at < requests.length; at += FLUSH) {
    const some = requests.slice(at, at + FLUSH);
    const ledger = [];
    for (let k = 0; k < some.length; k += POST) {
      const post = some.slice(k, k + POST);
      ledger.push({ projectId, day: utcDay(post[0]!.startedAtUs), key: keyOfIds(post.map((r) => r.id)) });
    }
    await flush({ requests: some.map((request) => ({ projectId, request })), ledger });
    if (at % (64 * FLUSH) === 0) await foldPending();
  }
  while ((await foldPending()).chunks > 0);
}

async function bytesOf(testbed: Testbed, table: string): Promise<number> {
  const { rows } = await testbed.client.query<{ bytes: string }>(
    'SELECT coalesce(sum(pg_total_relation_size(relid)), 0) AS bytes FROM pg_partition_tree($1)',
    [table],
  );
  const { rows: plain } = await testbed.client.query<{ bytes: string }>('SELECT pg_total_relation_size($1) AS bytes', [
    table,
  ]);
  return Math.max(Number(rows[0]!.bytes), Number(plain[0]!.bytes));
}

type TierRow = { tier: number; grouping: number; family: number; bytes: string };

async function tiers(testbed: Testbed): Promise<Map<string, number>> {
  const { rows } = await testbed.client.query<TierRow>(
    'SELECT tier, grouping, family, sum(pg_column_size(body)) AS bytes FROM rollup GROUP BY 1, 2, 3',
  );
  const byTier = new Map<string, number>();
  for (const row of rows) {
    const tier = TIERS[row.tier]!;
    byTier.set(tier, (byTier.get(tier) ?? 0) + Number(row.bytes));
    const name = `${tier} ${GROUPINGS[row.grouping]} ${FAMILIES[row.family]}`;
    byTier.set(name, (byTier.get(name) ?? 0) + Number(row.bytes));
    if (tier === 'hour' && FAMILIES[row.family]!.startsWith('sample'))
      byTier.set('hour samples', (byTier.get('hour samples') ?? 0) + Number(row.bytes));
  }
  return byTier;
}

const REPEATS = 9;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const startedMs = performance.now();
    await work();
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(REPEATS / 2)]!;
}

async function readTimes(projectId: string, one: TimedRequest): Promise<Record<string, number>> {
  const filter: RequestFilter = {
    ...{ projectId, fromUs: firstHourMs * 1_000, toUs: (firstHourMs + hours * HOUR_MS) * 1_000, outcomes: [] },
    ...{ attributes: {}, sessionId: null, traceId: null, minE2eUs: null, maxE2eUs: null },
    dimensions: { endpoint: ['/v1/endpoint-3'] },
  };
  const slowest = (given: Partial<RequestFilter>) => () =>
    readRequests({ filter: { ...filter, ...given }, order: 'slowest', after: null, limit: 50 });
  return {
    slowestMs: await timed(slowest({})),
    slowestWithAttributeMs: await timed(slowest({ attributes: { tenant: 'tenant-7' } })),
    slowestOfAllMs: await timed(slowest({ dimensions: {} })),
    byIdMs: await timed(() => readRequestById(projectId, { id: one.id, aroundUs: one.startedAtUs })),
  };
}

const testbed = await startTestbed();
process.env.DATABASE_URL = testbed.url;
process.env.ISOCHRONE_SECRET ??= randomBytes(24).toString('hex');
try {
  const { projectId } = testbed;
  let last: TimedRequest[] = [];
  let hotBytes = 0;
  let ledgerBytes = 0;
  const spent = { ingestMs: 0, sealMs: 0 };
  for (let hour = 0; hour < hours; hour++) {
    last = requestsOfHour(firstHourMs + hour * HOUR_MS);
    const startedMs = performance.now();
    await ingest(projectId, last);
    const ingestedMs = performance.now();
    if (hour === 0) hotBytes = await bytesOf(testbed, 'hot_chunk');
    if (hour === 0) ledgerBytes = await bytesOf(testbed, 'ledger');
    while ((await sealProject(projectId, Date.now() + 700_000)).requests > 0);
    // An hour of data takes a minute here: what autovacuum does within a real hour is done at its end
    await testbed.client.query('VACUUM rollup, hot_chunk');
    spent.ingestMs += ingestedMs - startedMs;
    spent.sealMs += performance.now() - ingestedMs;
    console.error(`hour ${hour + 1} of ${hours}: ingested, folded and sealed`);
  }
  await compactAll(projectId); // as if the day were over
  await testbed.client.query('VACUUM (ANALYZE) rollup, sealed_chunk, hot_chunk');
  const n = hours * PER_HOUR;
  const sealed = (await bytesOf(testbed, 'sealed_chunk')) / n;
  // What merging parts needs at once stays with the table and is used again: it grows with the rate, not with the days.
  const withRoom = await bytesOf(testbed, 'rollup');
  await testbed.client.query('VACUUM FULL rollup');
  const rollupTable = await bytesOf(testbed, 'rollup');
  const byTier = await tiers(testbed);
  const bodies = TIERS.reduce((sum, tier) => sum + (byTier.get(tier) ?? 0), 0);
  const ofTier = (tier: string) => ((byTier.get(tier) ?? 0) / bodies) * (rollupTable / n);
  const hourSamples = ofTier('hour samples');
  const references = (await bytesOf(testbed, 'series')) + (await bytesOf(testbed, 'attribute_set'));
  const parts: Record<string, number> = {
    sealed,
    fiveMinutes: ofTier('5min') * (14 / DAYS),
    hour: ofTier('hour') - hourSamples,
    hourSamples: (hourSamples * (HOUR_SAMPLE_DAYS + 1)) / DAYS,
    day: ofTier('day'),
    notSealed: (hotBytes / PER_HOUR) * (70 / 60 / (DAYS * 24)),
    ledger: ledgerBytes / PER_HOUR / DAYS,
    roomToMerge: (withRoom - rollupTable) / 100e6,
    references: (references + (await bytesOf(testbed, 'cell_key'))) / 100e6,
    pending: (await bytesOf(testbed, 'pending')) / 100e6,
  };
  for (const [name, bytes] of [...byTier].sort((a, b) => b[1] - a[1]).slice(0, 40)) {
    console.log(`roll-up ${name}: ${(bytes / n).toFixed(2)} B a request`);
  }
  console.log(`roll-up table: ${(rollupTable / n).toFixed(1)} B a request, its bodies ${(bodies / n).toFixed(1)}`);
  for (const [name, bytes] of Object.entries(parts)) console.log(`${name}: ${bytes.toFixed(2)} B a request`);
  const reads = await readTimes(projectId, last[1_000]!);
  const round = (value: number) => Math.round(value * 10) / 10;
  const figures = {
    bytesPerRequest: round(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)),
    ...Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, round(bytes)])),
    ...Object.fromEntries(Object.entries(reads).map(([name, ms]) => [name, round(ms)])),
    ...{ hours, requests: n, sealPerSecond: Math.round(n / (spent.sealMs / 1_000)) },
  };
  console.log(JSON.stringify(figures));
} finally {
  await pool().end();
  await testbed.stop();
}
