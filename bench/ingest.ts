// Sustained durable ingest of bin/ingest with a worker beside it, against COPY BINARY of plain rows in the same run.
//   npm run bench ingest [-- seconds rounds]
import { measureCopy, PLAIN_TABLE, prepareCopies } from './support/copyIn';
import { Generator } from './support/generator';
import type { LoadReport } from './support/load';
import { cpuSeconds, median, residentMiB, startTestbed } from './support/testbed';

const [seconds = 60, rounds = 3, share = 1] = process.argv.slice(2).map(Number);
const COPY_SECONDS = Math.min(10, seconds / 3);

const bed = await startTestbed();
const generator = new Generator();
try {
  await bed.client.query(PLAIN_TABLE);
  const copies = prepareCopies(20);
  const { child: ingest, port } = await bed.run('ingest');
  const { child: worker } = await bed.run('worker');
  const load = (s: number, rate: number | null) =>
    generator.load({ port, key: bed.key, connections: 32, eventsAPost: 50, seconds: s, rate });
  const lagS = async () => {
    const { rows } = await bed.client.query<{ lag: string; n: string }>(
      `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(received_at)), 0) AS lag, coalesce(sum(n), 0) AS n FROM pending`,
    );
    return { lag: Number(rows[0]!.lag), pending: Number(rows[0]!.n) };
  };
  const drained = async () => {
    while ((await lagS()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const used = () => ({
    generator: cpuSeconds(generator.pid) ?? 0,
    ingest: cpuSeconds(ingest.pid!) ?? 0,
    worker: cpuSeconds(worker.pid!) ?? 0,
    postgres: cpuSeconds(bed.postgresPid, { children: true }) ?? 0,
  });
  await load(5, null); // warm
  await drained();
  const measured: { copy: number; report: LoadReport; lag: number; ratio: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = await measureCopy(bed.url, { copies, seconds: COPY_SECONDS });
    const cpuBefore = used();
    const report = await load(seconds, share < 1 ? share * before : null);
    const { lag, pending } = await lagS();
    await drained();
    const cpuAfter = used();
    const cpu = Object.entries(cpuBefore).map(
      ([name, s]) => `${name} ${(((cpuAfter[name as keyof typeof cpuAfter] - s) * 1e6) / report.accepted).toFixed(1)}`,
    );
    const copy = (before + (await measureCopy(bed.url, { copies, seconds: COPY_SECONDS }))) / 2;
    const perSecond = report.accepted / report.seconds;
    measured.push({ copy, report, lag, ratio: perSecond / copy });
    console.log(
      `round ${round + 1}: ${Math.round(perSecond)} events/s, COPY ${Math.round(copy)} rows/s, ratio ${(perSecond / copy).toFixed(3)}, ` +
        `ack p50 ${report.ackMs.p50.toFixed(1)} p99 ${report.ackMs.p99.toFixed(1)} ms, fold lag ${lag.toFixed(1)} s (${pending} pending), refused ${JSON.stringify(report.refused)}; CPU µs an event, folded: ${cpu.join(', ')}`,
    );
  }
  const { rows } = await bed.client.query<{ n: string }>('SELECT sum(n) AS n FROM hot_chunk');
  const result = {
    ratio: median(measured.map((m) => m.ratio)),
    perSecond: Math.round(median(measured.map((m) => m.report.accepted / m.report.seconds))),
    copyPerSecond: Math.round(median(measured.map((m) => m.copy))),
    ackP99Ms: median(measured.map((m) => m.report.ackMs.p99)),
    foldLagS: median(measured.map((m) => m.lag)),
    residentMiB: residentMiB(ingest.pid!)?.highest,
    stored: Number(rows[0]!.n),
  };
  console.log(JSON.stringify(result));
} finally {
  generator.stop();
  await bed.stop();
}
