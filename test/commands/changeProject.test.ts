import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeProject } from '@/lib/commands/changeProject';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { pool } from '@/lib/db/pool';
import { loadProjectSettings } from '@/lib/queries/loadProjectSettings';
import { loadQuantiles } from '@/lib/queries/loadQuantiles';
import { parseQuantiles } from '@/lib/queries/parseQuantiles';
import { changeZones } from '@/lib/rollup/changeZones';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
const HOUR_US = 3_600e6;
const FIRST_US = Date.parse('2026-11-20T00:30:00Z') * 1000;

beforeAll(async () => {
  database = await createTestDatabase();
  const projectId = randomUUID();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'zone', 'Zone')`, [projectId]);
  viewer = { projectId, projectSlug: 'zone', userId: null, keyId: 'k', role: 'owner' };
  const requests = Array.from({ length: 48 }, (_, i) => aRequest({ id: `r${i}`, startedAtUs: FIRST_US + i * HOUR_US }));
  await flush({ requests: requests.map((request) => ({ projectId, request })), ledger: [] });
  while ((await foldPending()).chunks > 0);
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

async function days(): Promise<[string, number][]> {
  const query = 'from=2026-11-19T00:00:00Z&to=2026-11-23T00:00:00Z&step=P1D&metric=e2e';
  const { series } = await loadQuantiles({ viewer, input: parseQuantiles(new URLSearchParams(query)) });
  return series[0]!.points.filter((point) => point.n > 0).map((point) => [point.at, point.n]);
}

test('another zone: hours and days change together with the roll-ups, and no request is lost or doubled', async () => {
  expect((await days()).map(([, n]) => n)).toEqual([24, 24]);
  await changeProject({ viewer, input: { timeZone: 'Asia/Kathmandu' } });
  expect(await loadProjectSettings({ viewer })).toMatchObject({ timeZone: 'UTC', wantedTimeZone: 'Asia/Kathmandu' });
  expect((await days()).map(([, n]) => n)).toEqual([24, 24]);
  await changeZones();
  expect(await loadProjectSettings({ viewer })).toMatchObject({ timeZone: 'Asia/Kathmandu', wantedTimeZone: null });
  // +05:45: the local day begins at 18:15 UTC, so 18 requests of the first UTC day are in the first local one
  expect(await days()).toEqual([
    ['2026-11-19T18:15:00.000Z', 18],
    ['2026-11-20T18:15:00.000Z', 24],
    ['2026-11-21T18:15:00.000Z', 6],
  ]);
});

test('the present zone asked for again changes nothing; retention and name are kept', async () => {
  const retention = { rawDays: 10, fiveMinuteDays: 7, hourDays: 60, dayDays: 365 };
  await changeProject({ viewer, input: { name: ' Renamed ', timeZone: 'Asia/Kathmandu', retention } });
  expect(await loadProjectSettings({ viewer })).toEqual({
    ...{ name: 'Renamed', timeZone: 'Asia/Kathmandu', wantedTimeZone: null, retention, successDropMax: 0.005 },
  });
  await changeProject({ viewer, input: { successDropMax: 0.0125 } });
  expect(await loadProjectSettings({ viewer })).toMatchObject({ name: 'Renamed', successDropMax: 0.0125 });
});

test('names the field that is wrong, and refuses who may not', async () => {
  const retention = { rawDays: 10, fiveMinuteDays: 7, hourDays: 60, dayDays: 365 };
  for (const [input, field] of [
    [{ timeZone: 'Mars/Base' }, 'timeZone'],
    [{ timeZone: '+05:45' }, 'timeZone'],
    [{ name: ' ' }, 'name'],
    [{ retention: { ...retention, rawDays: 0 } }, 'retention.rawDays'],
    [{ colour: 'red' }, 'body'],
    [{ successDropMax: 0.3 }, 'successDropMax'],
  ] as const)
    await expect(changeProject({ viewer, input })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(field),
    });
  const change = changeProject({ viewer: { ...viewer, role: 'member' }, input: { name: 'x' } });
  await expect(change).rejects.toMatchObject({ status: 403 });
});
