// The short version of `npm run test:faults`: the same system, clients and checks.
import { beforeAll, expect, it } from 'vitest';
import { runDiskFull, runKills } from '../../bench/support/faultRun';
import { buildIfStale } from '../../bin/build.mjs';

beforeAll(async () => {
  await buildIfStale(() => {});
}, 300_000);

it('kill -9 of everything, SIGTERM and cut connections: acknowledged is stored once, roll-ups equal a rebuild', async () => {
  const report = await runKills({ seconds: 8, clients: 20, seed: 7 });
  expect(report.wrong).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(500);
  expect(Math.min(...Object.values(report.starts)), JSON.stringify(report.starts)).toBeGreaterThanOrEqual(2);
}, 240_000);

it('a full disk is answered with 503, and taken up again when it is freed', async () => {
  const report = await runDiskFull({ clients: 20, seed: 7 });
  if (report === null) {
    // only root may mount a small file system to fill
    expect(process.getuid?.()).not.toBe(0);
    return;
  }
  expect(report.wrong).toEqual([]);
  expect(report.answers['503']).toBeGreaterThan(0);
}, 240_000);
