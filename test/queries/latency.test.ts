// Percentiles over time, tables, the difference of an area and comparisons, against SQL over the view; local days and
// hours where clocks change, off the whole hour and far ahead of UTC.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timeAxis } from '@/lib/charts/timeAxis';
import type { TimedRequest } from '@/lib/core/request';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { pool } from '@/lib/db/pool';
import { latencyCsv, latencyGroupsCsv } from '@/lib/queries/latencyCsv';
import { loadComparison } from '@/lib/queries/loadComparison';
import { loadLatency } from '@/lib/queries/loadLatency';
import { loadLatencyGroups } from '@/lib/queries/loadLatencyGroups';
import { loadSelection } from '@/lib/queries/loadSelection';
import { parseComparison } from '@/lib/queries/parseComparison';
import { parseBox, parseLatency, parseLatencyGroups } from '@/lib/queries/parseLatency';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
const viewers = new Map<string, Viewer>();

const at = (text: string) => Date.parse(text) * 1000;
const TEN_MINUTES_US = 600e6;

/** One request every ten minutes. */
function everyTenMinutes(from: string, to: string): TimedRequest[] {
  const count = (at(to) - at(from)) / TEN_MINUTES_US;
  return Array.from({ length: count }, (_, i) =>
    aRequest({ id: `${from} ${i}`, startedAtUs: at(from) + i * TEN_MINUTES_US, e2eUs: 100_000 + (i % 7) * 10_000 }),
  );
}

const ZONES = {
  'Europe/Berlin': [
    everyTenMinutes('2026-03-27T23:00:00Z', '2026-03-30T22:00:00Z'),
    everyTenMinutes('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z'),
  ].flat(),
  'Asia/Kathmandu': everyTenMinutes('2026-06-27T18:15:00Z', '2026-06-29T18:15:00Z'),
  'Pacific/Tongatapu': everyTenMinutes('2026-06-27T11:00:00Z', '2026-06-29T11:00:00Z'),
};

/** A day of traffic, few enough that its sample is whole, that becomes 40 % slower at noon by its queue, with a burst of cold starts in one region at 06:00. */
const noon = at('2026-11-20T12:00:00Z');
const dayOfChange = Array.from({ length: 2_800 }, (_, i): TimedRequest => {
  const startedAtUs = at('2026-11-20T00:00:00Z') + Math.floor((i * 86_400e6) / 2_800);
  const isCold = i >= 700 && i < 725;
  const queueUs = 20_000 + (startedAtUs >= noon ? 90_000 : 0) + ((i * 7_919) % 1_000) * 20;
  const base = aRequest();
  const terms = base.terms.map((_, term) => (term === 3 ? queueUs : term === 5 ? (isCold ? 3_000_000 : 0) : null));
  return aRequest({
    ...{ id: `change ${i}`, startedAtUs, terms, e2eUs: 150_000 + queueUs + (isCold ? 3_000_000 : 0) },
    dims: {
      ...base.dims,
      endpoint: i % 4 === 0 ? '/v1/b' : '/v1/a',
      clientRegion: isCold ? 'ap-south-1' : i % 10 === 0 ? 'ap-south-1' : 'eu-west-2',
      version: i % 3 === 0 ? '2' : '1',
    },
  });
});

async function store(name: string, zone: string, requests: readonly TimedRequest[]): Promise<void> {
  const [row] = await database.query<{ id: string }>(
    'INSERT INTO project (id, slug, name, time_zone) VALUES (gen_random_uuid(), $1, $1, $2) RETURNING id',
    [name.toLowerCase().replace('/', '-'), zone],
  );
  const projectId = row!.id;
  viewers.set(name, { projectId, projectSlug: name, userId: null, keyId: 'test', role: 'reader' });
  await ensurePartitions(new Set(requests.map((request) => utcDay(request.startedAtUs))));
  for (let i = 0; i < requests.length; i += 2_000)
    await flush({ requests: requests.slice(i, i + 2_000).map((request) => ({ projectId, request })), ledger: [] });
}

beforeAll(async () => {
  database = await createTestDatabase();
  for (const [zone, requests] of Object.entries(ZONES)) await store(zone, zone, requests);
  await store('change', 'UTC', dayOfChange);
  await foldPending();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const latency = (project: string, query: string) =>
  loadLatency({ viewer: viewers.get(project)!, input: parseLatency(new URLSearchParams(query)) });

describe('local periods', () => {
  it.each([
    ['Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 'Sun, 29 Mar 2026', 23],
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 'Sun, 25 Oct 2026', 25],
    ['Asia/Kathmandu', '2026-06-27T18:15:00Z', '2026-06-28T18:15:00Z', 'Sun, 28 Jun 2026', 24],
    ['Pacific/Tongatapu', '2026-06-27T11:00:00Z', '2026-06-28T11:00:00Z', 'Sun, 28 Jun 2026', 24],
  ])('%s: the day from %s to %s is one bucket, "%s", of %i hours', async (zone, from, to, label, hours) => {
    const byDay = await latency(zone, `from=${from}&to=${to}&step=P1D`);
    expect(byDay.points.map((point) => [Date.parse(point.at), point.n])).toEqual([[Date.parse(from), hours * 6]]);
    expect(timeAxis(byDay.points, zone).long).toEqual([label]);
    const byHour = await latency(zone, `from=${from}&to=${to}&step=PT1H`);
    expect(byHour.points.map((point) => point.n)).toEqual(Array(hours).fill(6));
    expect(new Set(timeAxis(byHour.points, zone).long).size).toBe(hours);
  });

  it('days have the counts of SQL in the same zone', async () => {
    for (const [zone, from, to] of [
      ['Europe/Berlin', '2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z'],
      ['Pacific/Tongatapu', '2026-06-27T11:00:00Z', '2026-06-29T11:00:00Z'],
    ] as const) {
      const rows = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM timed_request WHERE project_id = $1 AND started_at >= $3 AND started_at < $4
         GROUP BY (started_at AT TIME ZONE $2)::date ORDER BY (started_at AT TIME ZONE $2)::date`,
        [viewers.get(zone)!.projectId, zone, from, to],
      );
      const { points } = await latency(zone, `from=${from}&to=${to}&step=P1D`);
      expect(points.map((point) => point.n)).toEqual(rows.map((row) => row.n));
    }
  });

  it('hours without requests are there, without a value', async () => {
    const { points } = await latency('Asia/Kathmandu', 'from=2026-06-27T15:15:00Z&to=2026-06-27T20:15:00Z&step=PT1H');
    expect(points.map((point) => [point.n, point.p50.ms === null])).toEqual([
      [0, true],
      [0, true],
      [0, true],
      [6, false],
      [6, false],
    ]);
  });
});

const DAY = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';

describe('one answer', () => {
  it('the heatmap holds each request once', async () => {
    const { heatmap, points, summary } = await latency('change', DAY);
    expect(heatmap.reduce((sum, cell) => sum + cell.weight, 0)).toBe(summary.n);
    expect(points.reduce((sum, point) => sum + point.n, 0)).toBe(summary.n);
  });

  it('the table by region has the percentiles of SQL, and its CSV the same numbers', async () => {
    const input = parseLatencyGroups(new URLSearchParams(`${DAY}&groupBy=clientRegion`));
    const answer = await loadLatencyGroups({ viewer: viewers.get('change')!, input });
    const rows = await database.query<{ region: string; n: number; p50: number; p99: number }>(
      `SELECT client_region AS region, count(*)::int AS n,
         (percentile_disc(0.5) WITHIN GROUP (ORDER BY e2e_us) / 1000.0)::float8 AS p50,
         (percentile_disc(0.99) WITHIN GROUP (ORDER BY e2e_us) / 1000.0)::float8 AS p99
       FROM timed_request WHERE project_id = $1 GROUP BY client_region ORDER BY n DESC`,
      [viewers.get('change')!.projectId],
    );
    expect(answer.groups.map(({ group }) => group)).toEqual(rows.map((row) => row.region));
    rows.forEach((row, i) => {
      const { quantiles } = answer.groups[i]!;
      expect(quantiles.n).toBe(row.n);
      expect(Math.abs(quantiles.p50.ms! / row.p50 - 1)).toBeLessThan(0.0056);
      expect(Math.abs(quantiles.p99.ms! / row.p99 - 1)).toBeLessThan(0.0056);
    });
    const [, first = ''] = latencyGroupsCsv(answer).split('\r\n');
    const { quantiles } = answer.groups[0]!;
    expect(first.split(',').slice(0, 3)).toEqual([rows[0]!.region, String(rows[0]!.n), String(quantiles.p50.ms)]);
  });

  it('the CSV over time has one line a bucket, empty where there is no value', async () => {
    const answer = await latency('Asia/Kathmandu', 'from=2026-06-27T17:15:00Z&to=2026-06-27T19:15:00Z&step=PT1H');
    const lines = latencyCsv(answer).trimEnd().split('\r\n');
    expect(lines.length).toBe(3);
    expect(lines[1]).toBe('2026-06-27T17:15:00.000Z,2026-06-27T18:15:00.000Z,no,0,,,,,,,,,');
    expect(lines[2]!.split(',')[4]).toBe(String(answer.points[1]!.p50.ms));
  });
});

describe('what is different', () => {
  const box = parseBox(`${Date.parse('2026-11-20T05:00:00Z')},${Date.parse('2026-11-20T07:00:00Z')},1000,10000`)!;

  it('about a burst: its region and its cold starts, counted as SQL counts them', async () => {
    const input = { ...parseScope(new URLSearchParams(DAY)), box };
    const study = await loadSelection({ viewer: viewers.get('change')!, input });
    expect(study.complete).toBe(true);
    expect(study.selected.weight).toBe(25);
    const names = study.features.map(({ dimension, value }) => `${dimension}=${value}`);
    expect(names).toContain('cold start=yes');
    expect(names).toContain('clientRegion=ap-south-1');
    expect(names).not.toContain('version=1');
    const [region] = await database.query<{ share: number }>(
      `SELECT avg((client_region = 'ap-south-1')::int)::float8 AS share FROM timed_request WHERE project_id = $1
         AND started_at >= '2026-11-20T03:00Z' AND started_at < '2026-11-20T09:00Z' AND e2e_us < 1000000`,
      [viewers.get('change')!.projectId],
    );
    expect(study.features.find(({ value }) => value === 'ap-south-1')?.restShare).toBeCloseTo(region!.share, 6);
    expect(study.terms[0]?.term).toBe('coldStart');
    expect(study.slowest[0]?.waitMs).toBeGreaterThan(3_000);
  });

  it('before and after noon: p50 moved, by the queue; versions did not differ', async () => {
    const windows = 'from=2026-11-20T12:00:00Z&to=2026-11-21T00:00:00Z&beforeFrom=2026-11-20T00:00:00Z';
    const query = `${windows}&beforeTo=2026-11-20T12:00:00Z`;
    const answer = await loadComparison({
      viewer: viewers.get('change')!,
      input: parseComparison(new URLSearchParams(query)),
    });
    const shift = answer.endpoints.find(({ endpoint }) => endpoint === '/v1/a')!;
    expect(shift.p50.isClaimed).toBe(true);
    expect(Math.abs(shift.p50.differenceMs! - 90)).toBeLessThan(3);
    expect(answer.focus?.all.terms[0]?.term).toBe('queue');
    const byVersion = await loadComparison({
      viewer: viewers.get('change')!,
      input: parseComparison(new URLSearchParams(`${DAY}&by=version&a=1&b=2`)),
    });
    for (const { p50, p95, p99 } of byVersion.endpoints)
      expect([p50.isClaimed, p95.isClaimed, p99.isClaimed]).toEqual([false, false, false]);
  });
});

it.each(['1,2,3', '2,1,3,4', '1,2,4,3', '1,2,-1,3', 'a,b,c,d'])('refuses "%s" as an area', (text) => {
  expect(() => parseBox(text)).toThrow(/box/);
});
