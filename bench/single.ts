// One event a post, 64 connections: bin/ingest against a Next route handler that runs the same pipeline.
//   npm run bench single [-- seconds rounds]
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { freePort } from '../bin/embeddedPostgres.mjs';
import { Generator } from './support/generator';
import type { LoadReport } from './support/load';
import { median, startTestbed, stopChild, untilListening } from './support/testbed';

const [seconds = 20, rounds = 3] = process.argv.slice(2).map(Number);
const next = path.resolve('node_modules/next/dist/bin/next');
const folder = path.resolve('bench/nextRoute');

const built = spawnSync(process.execPath, [next, 'build', folder], {
  env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  encoding: 'utf8',
});
if (built.status !== 0) throw new Error(`next build failed:\n${built.stdout}\n${built.stderr}`);
const bed = await startTestbed();
const generator = new Generator();
const nextPort = await freePort(0);
const route = spawn(process.execPath, [next, 'start', folder, '-p', String(nextPort), '-H', '127.0.0.1'], {
  env: { ...process.env, ...bed.environment, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const { port } = await bed.run('ingest');
  await bed.run('worker');
  await untilListening(nextPort);
  const load = (to: number, s: number): Promise<LoadReport> =>
    generator.load({ port: to, key: bed.key, connections: 64, eventsAPost: 1, seconds: s, rate: null });
  for (const to of [port, nextPort]) await load(to, 3); // warm
  const measured: { ours: LoadReport; theirs: LoadReport }[] = [];
  for (let round = 0; round < rounds; round++) {
    const [ours, theirs] = [await load(port, seconds), await load(nextPort, seconds / 2)];
    measured.push({ ours, theirs });
    const rate = (report: LoadReport) => Math.round(report.accepted / report.seconds);
    console.log(
      `round ${round + 1}: ${rate(ours)}/s (p99 ${ours.ackMs.p99.toFixed(1)} ms), Next ${rate(theirs)}/s, refused ${JSON.stringify([ours.refused, theirs.refused])}`,
    );
  }
  const perSecond = (report: LoadReport) => report.accepted / report.seconds;
  console.log(
    JSON.stringify({
      perSecond: Math.round(median(measured.map(({ ours }) => perSecond(ours)))),
      nextPerSecond: Math.round(median(measured.map(({ theirs }) => perSecond(theirs)))),
      timesNext: Number(median(measured.map(({ ours, theirs }) => perSecond(ours) / perSecond(theirs))).toFixed(2)),
      ackP99Ms: Number(median(measured.map(({ ours }) => ours.ackMs.p99)).toFixed(2)),
    }),
  );
} finally {
  generator.stop();
  await stopChild(route);
  await bed.stop();
}
