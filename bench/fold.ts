// How fast requests become cells, and how small those are.
import { readFileSync } from 'node:fs';
import { Calendar } from '../lib/core/calendar';
import { fold } from '../lib/core/fold';
import { HOUR_MS } from '../lib/demo/arrivals';
import { parseMeasured } from '../lib/demo/measured';
import { requestsOfHour } from '../lib/demo/requests';
import { attribute } from '../lib/ingest/attribute';
import { eventSchema } from '../lib/ingest/contract';

const measured = parseMeasured((file) => readFileSync(`data/demo/${file}`, 'utf8'));
const firstHourMs = Date.UTC(2026, 10, 30, 8);
const requests = Array.from({ length: 8 }, (_, index) => firstHourMs + index * HOUR_MS)
  .flatMap((hourMs) => requestsOfHour(measured, { hourMs, perHourAtFullLoad: 5_000 }))
  .map((event) => {
    const at = { startedAtUs: event.startedAt * 1_000, defaultVantage: 'client' as const };
    return attribute(eventSchema.parse(event), at).request;
  });

const calendar = new Calendar('UTC');
fold(requests, { calendar }); // warm
const startedAt = performance.now();
const parts = fold(requests, { calendar });
const elapsedMs = performance.now() - startedAt;
const perSecond = (requests.length / elapsedMs) * 1_000;
console.log(`fold: ${requests.length} requests into ${parts.length} parts in ${elapsedMs.toFixed(0)} ms`);
console.log(
  `fold: ${perSecond.toFixed(0)} requests/s, ${((elapsedMs * 1_000) / requests.length).toFixed(1)} µs a request`,
);
