// How fast requests become cells, and how small those are: a batch of fresh requests of 40 endpoints × 12 client regions ×
// 4 service regions × 6 models (Zipf), every family and tier, in their stored form.
import { randomUUID } from 'node:crypto';
import { Calendar } from '../lib/core/calendar';
import { foldEncoded } from '../lib/core/fold';
import type { Dimensions, TimedRequest } from '../lib/core/request';
import { attribute } from '../lib/ingest/attribute';
import { eventSchema } from '../lib/ingest/contract';
import { drawEvent, seeded } from './support/traffic';

const [n = 100_000] = process.argv.slice(2).map(Number);
const random = seeded(3);
const firstUs = Date.UTC(2026, 11, 1, 10) * 1_000;
const series = new Map<string, Dimensions>();
const requests: TimedRequest[] = Array.from({ length: n }, (_, i) => {
  const event = eventSchema.parse({ id: randomUUID(), startedAt: 0, ...drawEvent(random) });
  const { request } = attribute(event, { startedAtUs: firstUs + i * 10, defaultVantage: 'service' });
  const name = JSON.stringify(request.dims);
  const dims = series.get(name) ?? request.dims;
  series.set(name, dims);
  return { ...request, dims };
});

const calendar = new Calendar('UTC');
foldEncoded(requests, { calendar }); // warm
const before = process.cpuUsage();
const parts = foldEncoded(requests, { calendar });
const used = process.cpuUsage(before);
const microseconds = (used.user + used.system) / n;
const bytes = parts.reduce((sum, part) => [...part.cells.values()].reduce((s, cell) => s + cell.length, sum), 0);
console.log(`fold: ${n} requests of ${series.size} series into ${parts.length} parts of ${bytes} bytes`);
console.log(
  JSON.stringify({ microsecondsPerRequest: Number(microseconds.toFixed(2)), bytesPerRequest: Math.round(bytes / n) }),
);
