// OTLP: spans a second durably accepted; how far the assembly lags at 20,000 spans a second; memory of the worker with
// 100,000 open traces. The last line is one JSON object.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type OtlpOrder, type OtlpReport, SPANS_A_TRACE } from './support/otlpLoad';
import { residentMiB, startTestbed, stopChild } from './support/testbed';

const ACCEPT_TRACES = 80_000;
const LAG_RATE = 20_000;
const LAG_SECONDS = 30;
const OPEN_TRACES = 100_000;
const SETTLE_S = 5;

const bed = await startTestbed();
const generator = fork(path.resolve('bench/support/otlpLoad.ts'), [], { execArgv: ['--import', 'tsx'] });
const load = async (order: Omit<OtlpOrder, 'port' | 'key' | 'connections'>): Promise<OtlpReport> => {
  generator.send({ port: ingest.port, key: bed.key, connections: 8, ...order });
  const [report] = (await once(generator, 'message')) as [OtlpReport];
  if (Object.keys(report.refused).length > 0) console.log('refused', report.refused);
  return report;
};
const number = async (sql: string): Promise<number> => {
  const { rows } = await bed.client.query<{ n: string }>(sql);
  return Number(rows[0]!.n);
};
const until = async (isDone: () => Promise<boolean>) => {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 100));
};
const isDrained = async () => (await number('SELECT count(*) AS n FROM span_pending')) === 0;

const ingest = await bed.run('ingest');
try {
  await load({ traces: 4_000, rate: null, rooted: true }); // warm
  const accepted = await load({ traces: ACCEPT_TRACES, rate: null, rooted: true });
  const acceptedPerSecond = Math.round(accepted.spans / accepted.seconds);
  console.log(
    `accepted ${acceptedPerSecond} spans/s, ack p50 ${accepted.ackMs.p50.toFixed(1)} p99 ${accepted.ackMs.p99.toFixed(1)} ms`,
  );
  const bytesASpan = await number(
    'SELECT sum(length(body) + length(trace_index) + length(origins)) / sum(n) AS n FROM span_chunk',
  );
  await bed.client.query('TRUNCATE span_pending');

  const worker = await bed.run('worker');
  const before = await number('SELECT count(*) AS n FROM timed_request');
  const traces = (LAG_RATE * LAG_SECONDS) / SPANS_A_TRACE;
  await load({ traces, rate: LAG_RATE, rooted: true });
  const endedAt = performance.now();
  await until(isDrained);
  const lagS = Math.max(0, (performance.now() - endedAt) / 1_000 - SETTLE_S);
  const requests = (await number('SELECT count(*) AS n FROM timed_request')) - before;
  console.log(
    `at ${LAG_RATE} spans/s for ${LAG_SECONDS} s: lag ${lagS.toFixed(1)} s, ${requests} requests of ${traces} traces`,
  );
  await stopChild(worker.child);

  const fresh = await bed.run('worker');
  const idleMiB = residentMiB(fresh.child.pid!)?.now ?? null;
  const opening = await load({ traces: OPEN_TRACES, rate: null, rooted: false });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const closedEarly = await number(
    `SELECT count(*) AS n FROM assembled_trace WHERE reason IN ('idle', 'too_many_open')`,
  );
  const openMiB = residentMiB(fresh.child.pid!)?.now ?? null;
  console.log(
    `${OPEN_TRACES} open traces (${opening.spans} spans, ${closedEarly} closed): worker at ${openMiB?.toFixed(0)} MiB, started with ${idleMiB?.toFixed(0)}`,
  );
  await until(isDrained);
  const highestMiB = residentMiB(fresh.child.pid!)?.highest ?? null;
  const result = {
    acceptedPerSecond,
    ackP99Ms: accepted.ackMs.p99,
    bytesASpan,
    lagS,
    requests,
    traces,
    openMiB,
    highestMiB,
  };
  console.log(JSON.stringify(result));
  if (requests !== traces) {
    console.error(`${requests} requests were made of ${traces} traces`);
    process.exitCode = 1;
  }
} finally {
  generator.kill();
  await bed.stop();
}
