// How long the gains of the shown cell take: 100,000 requests a day over 28 days, as the sample tier gives them. The
// yardstick is sorting the same waits once for each distribution that is compared, which no answer could do without.
import { performance } from 'node:perf_hooks';
import { analyse } from '../lib/core/gains';
import type { TimedRequest } from '../lib/core/request';
import { addToSample, createSample, DAY_LIMITS, THIN_LIMITS } from '../lib/core/sample';
import { encodeSample, openSample, sampleRows } from '../lib/core/sampleCodec';
import { MEASURED_TERMS } from '../lib/core/terms';
import { attribute } from '../lib/ingest/attribute';
import { eventSchema } from '../lib/ingest/contract';
import { drawEvent, seeded } from './support/traffic';

const [perDay = 100_000, days = 28, runs = 9] = process.argv.slice(2).map(Number);
const DISTRIBUTIONS = 11;
const random = seeded(5);
const firstUs = Date.UTC(2026, 10, 1) * 1_000;

function requestAt(i: number): TimedRequest {
  const event = eventSchema.parse({
    ...{ id: `g-${i}`, startedAt: 0, ...drawEvent(random) },
    ...{ endpoint: '/v1/chat', clientRegion: 'eu-west-2', serviceRegion: 'us-east-1' },
  });
  return attribute(event, { startedAtUs: firstUs + i, defaultVantage: 'client' }).request;
}

const samples = Array.from({ length: days }, (_, day) => {
  const sample = createSample(days > 8 ? THIN_LIMITS : DAY_LIMITS);
  for (let i = 0; i < perDay; i++) addToSample(sample, requestAt(day * perDay + i), 'e2e');
  return encodeSample(sample);
});

const context = { overrides: [], deployableRegions: null, version: 'bench' };
const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)]!;
/** The processor's time of the last run (ms): what a busy machine does not stretch. */
const cpu = { ms: 0 };
function timed(work: () => void): number {
  const [before, usage] = [performance.now(), process.cpuUsage()];
  work();
  const used = process.cpuUsage(usage);
  cpu.ms = (used.user + used.system) / 1_000;
  return performance.now() - before;
}

let rows: ReturnType<typeof sampleRows>['rows'] = [];
const read = () => {
  ({ rows } = sampleRows(samples.map(openSample), 8_192));
};
const gains = () => analyse({ rows, complete: false, basis: 'e2e', context, seed: 'bench' });
read();
gains(); // warm
const readMs = median(Array.from({ length: runs }, () => timed(read)));
const analyseMs = median(Array.from({ length: runs }, () => timed(gains)));
const sortMs = median(
  Array.from({ length: runs }, () =>
    timed(() => {
      for (let i = 0; i < DISTRIBUTIONS; i++)
        Float64Array.from(rows, (row) => row.e2eUs - i * (row.terms[i % MEASURED_TERMS.length] ?? 0)).sort();
    }),
  ),
);
const cellMs = readMs + analyseMs;
timed(() => {
  read();
  gains();
});
const cellCpuMs = cpu.ms;
console.log(
  `gains: ${perDay} requests a day over ${days} days, ${rows.length} rows read from ${samples.length} samples`,
);
console.log(
  JSON.stringify({
    cellMs: Number(cellMs.toFixed(1)),
    cellCpuMs: Number(cellCpuMs.toFixed(1)),
    readMs: Number(readMs.toFixed(1)),
    analyseMs: Number(analyseMs.toFixed(1)),
    sortMs: Number(sortMs.toFixed(1)),
    ratio: Number((cellMs / sortMs).toFixed(2)),
    rows: rows.length,
    targetMs: 150,
  }),
);
