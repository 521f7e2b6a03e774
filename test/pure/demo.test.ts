import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, load } from '../../lib/demo/arrivals';
import { fastestRequests } from '../../lib/demo/fastest';
import { parseMeasured } from '../../lib/demo/measured';
import { requestsOfHour } from '../../lib/demo/requests';
import { attribute } from '../../lib/ingest/attribute';
import { eventSchema } from '../../lib/ingest/contract';

const measured = parseMeasured((file) => readFileSync(`data/demo/${file}`, 'utf8'));
const hourMs = Date.UTC(2026, 10, 30, 15);
const requests = requestsOfHour(measured, { hourMs, perHourAtFullLoad: 4_000 });

describe('the demonstration', () => {
  it('is the same each time, with ids of its own', () => {
    expect(requestsOfHour(measured, { hourMs, perHourAtFullLoad: 4_000 })).toEqual(requests);
    const next = requestsOfHour(measured, { hourMs: hourMs + HOUR_MS, perHourAtFullLoad: 4_000 });
    const ids = new Set([...requests, ...next].map((event) => event.id));
    expect(ids.size).toBe(requests.length + next.length);
  });

  it('has about as many requests as the load of the hour asks for', () => {
    expect(Math.abs(requests.length / (4_000 * load(hourMs)) - 1)).toBeLessThan(0.1);
  });

  it('keeps to the contract, and its terms fit without being cut', () => {
    for (const event of requests) {
      const parsed = eventSchema.parse(event);
      const { notes } = attribute(parsed, { startedAtUs: event.startedAt * 1_000, defaultVantage: 'client' });
      expect(notes, event.id).toEqual([]);
    }
  });

  it('has rare cold starts, failures and slow tails', () => {
    const share = (is: (event: (typeof requests)[number]) => boolean) => requests.filter(is).length / requests.length;
    expect(share((event) => Number(event.terms?.coldStartMs) > 0)).toBeGreaterThan(0.005);
    expect(share((event) => Number(event.terms?.coldStartMs) > 0)).toBeLessThan(0.03);
    expect(share((event) => event.outcome === 'error')).toBeLessThan(0.02);
    expect(share((event) => event.outcome === 'error')).toBeGreaterThan(0.001);
  });

  it('holds every real request, in order, within the window', () => {
    const window = { fromMs: hourMs - 7 * 24 * HOUR_MS, toMs: hourMs, day: '2026-11-30' };
    const real = fastestRequests(measured, window);
    expect(real.length).toBe(5_985);
    expect(real.every((event) => event.startedAt >= window.fromMs && event.startedAt < window.toMs)).toBe(true);
    expect(real.every((event, index) => index === 0 || event.startedAt >= real[index - 1]!.startedAt)).toBe(true);
    expect(real.every((event) => event.terms === undefined)).toBe(true);
  });
});
