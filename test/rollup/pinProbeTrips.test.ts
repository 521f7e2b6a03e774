// Round trips that own probes saw, from posted requests to what moving the service would gain.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roundTripMs } from '@/lib/core/regions';
import type { TimedRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import type { Viewer } from '@/lib/core/viewer';
import { eraseProject } from '@/lib/db/eraseProject';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { prisma } from '@/lib/db/prisma';
import { loadBreakdown } from '@/lib/queries/loadBreakdown';
import { loadRegions } from '@/lib/queries/loadRegions';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { pinProbeTripsOf } from '@/lib/rollup/pinProbeTrips';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const today = Date.parse('2026-11-20T00:00:00Z');
const scope = parseScope(
  new URLSearchParams({ endpoint: '/v1/infer', from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' }),
);
const TABLE_MS = roundTripMs('eu-west-2', 'us-east-1')!.ms;

/** Ids decide which requests samples keep: the same in each run. */
let made = 0;

type Way = { vantage: 'client' | 'probe'; from: string; to: string };

/** A request over the network, its model beside the service. */
function over({ vantage, from, to }: Way, given: { atMs: number; networkMs: number; rttMs?: number }): TimedRequest {
  const { atMs, networkMs, rttMs } = given;
  const ms: Partial<Record<string, number>> = { network: networkMs, model: 100 };
  return aRequest({
    ...{ id: `t-${made++}`, startedAtUs: atMs * 1000, e2eUs: Math.round((networkMs + 100) * 1000) },
    dims: { ...aRequest().dims, vantage, clientRegion: from, serviceRegion: to },
    terms: MEASURED_TERMS.map((term) => (ms[term] === undefined ? null : Math.round(ms[term] * 1000))),
    rttUs: rttMs === undefined ? null : Math.round(rttMs * 1000),
  });
}

const probe = (from: string, to: string, given: { atMs: number; rttMs: number }) =>
  over({ vantage: 'probe', from, to }, { ...given, networkMs: given.rttMs + 1 });

async function store(requests: TimedRequest[]): Promise<void> {
  await ensurePartitions(new Set(requests.map((r) => utcDay(r.startedAtUs))));
  await flush({ requests: requests.map((request) => ({ projectId: viewer.projectId, request })), ledger: [] });
}

const pins = () =>
  database.query<{ trip: string; day: string; p50_us: string; n: string }>(
    'SELECT trip, day::text, p50_us, n FROM probe_trip WHERE project_id = $1 ORDER BY trip',
    [viewer.projectId],
  );

/** What the pages say of London's users, served from us-east-1. */
async function ofLondon() {
  const [regions, breakdown] = await Promise.all([
    loadRegions({ viewer, input: scope }),
    loadBreakdown({ viewer, input: scope }),
  ]);
  const pair = regions.pairs.find((one) => one.clientRegion === 'eu-west-2')!;
  const placement = regions.placements.find((one) => one.clientRegion === 'eu-west-2')!;
  const home = placement.scenarios.find((one) => one.toRegion === 'eu-west-2' && one.withModel)!;
  return { pair, placement, home, gain: breakdown.gains.geography, floor: breakdown.floors.geography };
}

beforeAll(async () => {
  database = await createTestDatabase();
  const projectId = randomUUID();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'trips', 'Trips')`, [projectId]);
  viewer = { projectId, projectSlug: 'trips', userId: null, keyId: 'test', role: 'reader' };
  const london: Way = { vantage: 'client', from: 'eu-west-2', to: 'us-east-1' };
  const users = Array.from({ length: 600 }, (_, i) =>
    over(london, { atMs: today + HOUR_MS + i * 1000, networkMs: 120 + (i % 10) }),
  );
  // Both ways to write a region are the same place; one probe in ten meets a jam
  const probes = Array.from({ length: 90 }, (_, i) =>
    probe(i % 2 === 0 ? 'eu-west-2' : 'aws:eu-west-2', 'us-east-1', {
      atMs: today - (i % 3) * DAY_MS + HOUR_MS + i * 1000,
      rttMs: i % 10 === 0 ? 400 : 88 + (i % 7),
    }),
  );
  // More of one day than the samples keep
  const busy = Array.from({ length: 5000 }, (_, i) =>
    probe('us-west-2', 'us-east-1', { atMs: today - DAY_MS + i * 10_000, rttMs: 60 + ((i * 7919) % 1000) / 25 }),
  );
  const few = Array.from({ length: 19 }, (_, i) => probe('ap-south-1', 'us-east-1', { atMs: today + i, rttMs: 500 }));
  await store([...users, ...busy, ...few, ...probes.slice(0, 70)]);
  while ((await foldPending()).chunks > 0);
  await store(probes.slice(70)); // stays pending
});
afterAll(async () => {
  await prisma().$disconnect();
  await pool().end();
  await database.drop();
});

it('without pins the table tells the round trip; a pin is the p50 of the probes, and the page says so', async () => {
  const before = await ofLondon();
  expect(before.pair.roundTrip).toEqual({ ms: TABLE_MS, source: 'measured between aws regions' });
  expect(before.floor.source).not.toMatch(/probes/);
  await pinProbeTripsOf(viewer.projectId, today + 2 * HOUR_MS);
  const [truth] = await database.query<{ p50: number }>(
    `SELECT (percentile_disc(0.5) WITHIN GROUP (ORDER BY rtt_us) / 1000.0)::float8 AS p50 FROM timed_request
     WHERE project_id = $1 AND vantage = 'probe' AND client_region IN ('eu-west-2', 'aws:eu-west-2')`,
    [viewer.projectId],
  );
  expect(truth!.p50).toBeGreaterThan(TABLE_MS + 5);
  const after = await ofLondon();
  const probed = { ms: truth!.p50, source: 'seen by own probes' };
  expect([after.pair.roundTrip, after.placement.roundTrip]).toEqual([probed, probed]);
  expect(after.home.roundTrip).toEqual(before.home.roundTrip);
  // Every request goes that much further than the table has it, and what was seen is longer still
  for (const [now, then] of [
    [after.home.gain.p99.ms!, before.home.gain.p99.ms!],
    [after.gain.p50.ms!, before.gain.p50.ms!],
  ] as const)
    expect(now - then).toBeCloseTo(truth!.p50 - TABLE_MS, 3);
  expect(after.floor.source).toMatch(/seen by own probes/);
});

it('samples of many probes have their p50; too few probes pin nothing', async () => {
  const [{ p50 }] = (await database.query<{ p50: number }>(
    `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY rtt_us)::float8 AS p50 FROM timed_request
     WHERE project_id = $1 AND vantage = 'probe' AND client_region = 'us-west-2'`,
    [viewer.projectId],
  )) as [{ p50: number }];
  const [london, oregon, ...more] = await pins();
  expect([london, oregon].map((pin) => pin?.trip)).toEqual([
    'aws:eu-west-2 aws:us-east-1',
    'aws:us-west-2 aws:us-east-1',
  ]);
  expect(more).toEqual([]);
  expect([london!.n, oregon!.n]).toEqual(['90', '5000']);
  expect(Math.abs(Number(oregon!.p50_us) / p50 - 1)).toBeLessThan(0.02);
});

it('a pin stays through its day, follows the next day, and goes with its probes', async () => {
  const first = await pins();
  await store(
    Array.from({ length: 300 }, (_, i) =>
      probe('eu-west-2', 'us-east-1', { atMs: today + 3 * HOUR_MS + i, rttMs: 99 }),
    ),
  );
  await pinProbeTripsOf(viewer.projectId, today + 4 * HOUR_MS);
  expect(await pins()).toEqual(first);
  await pinProbeTripsOf(viewer.projectId, today + DAY_MS + HOUR_MS);
  expect((await pins()).find(({ trip }) => trip.startsWith('aws:eu-west-2'))).toMatchObject({
    ...{ day: '2026-11-21', p50_us: '99000', n: '390' },
  });
  await pinProbeTripsOf(viewer.projectId, today + 9 * DAY_MS);
  expect(await pins()).toEqual([]);
  expect((await ofLondon()).pair.roundTrip).toEqual({ ms: TABLE_MS, source: 'measured between aws regions' });
});

it('pins go with their project', async () => {
  await pinProbeTripsOf(viewer.projectId, today + 2 * HOUR_MS);
  expect(await pins()).toHaveLength(2);
  await eraseProject(viewer.projectId);
  expect(await pins()).toEqual([]);
});
