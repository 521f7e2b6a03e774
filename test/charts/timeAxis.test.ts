// Labels of hours and days where clocks change, where the hour is off by 45 minutes, and 13 hours ahead of UTC.
import { describe, expect, it } from 'vitest';
import { timeAxis } from '@/lib/charts/timeAxis';
import { Calendar } from '@/lib/core/calendar';

/** The buckets a page gets for whole local days. */
function buckets(zone: string, tier: 'hour' | 'day', from: string, to: string) {
  const calendar = new Calendar(zone);
  return calendar
    .cover(Date.parse(from) * 1000, Date.parse(to) * 1000, { finest: tier, coarsest: tier })
    .map(({ startS }) => ({
      at: new Date(startS * 1000).toISOString(),
      until: new Date(calendar.endS(tier, startS) * 1000).toISOString(),
    }));
}

describe('Berlin', () => {
  it('29 March has 23 hours: none is 02:00', () => {
    const hours = buckets('Europe/Berlin', 'hour', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z');
    const { long } = timeAxis(hours, 'Europe/Berlin');
    expect(long.length).toBe(23);
    expect(long.every((label) => label.startsWith('Sun, 29 Mar 2026'))).toBe(true);
    expect(long[1]).toBe('Sun, 29 Mar 2026, 01:00 – 03:00 GMT+2');
    expect(long.some((label) => label.includes(', 02:00'))).toBe(false);
  });

  it('25 October has 25 hours: 02:00 comes twice, told apart', () => {
    const hours = buckets('Europe/Berlin', 'hour', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z');
    const { long } = timeAxis(hours, 'Europe/Berlin');
    expect(long.length).toBe(25);
    expect(new Set(long).size).toBe(25);
    expect(long.filter((label) => label.includes(', 02:00')).length).toBe(2);
  });

  it('days around the change are one bucket each with their own date', () => {
    const days = buckets('Europe/Berlin', 'day', '2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z');
    expect(timeAxis(days, 'Europe/Berlin').long).toEqual(['Sat, 24 Oct 2026', 'Sun, 25 Oct 2026', 'Mon, 26 Oct 2026']);
  });
});

it('Kathmandu: hours begin at the local :00, a day at its midnight', () => {
  const hours = buckets('Asia/Kathmandu', 'hour', '2026-06-27T18:15:00Z', '2026-06-29T18:15:00Z');
  const { long, marks } = timeAxis(hours, 'Asia/Kathmandu');
  expect(long[0]).toBe('Sun, 28 Jun 2026, 00:00 – 01:00 GMT+5:45');
  expect(marks[0]).toEqual({ index: 0, text: 'Sun 28 Jun' });
  expect(marks.find(({ index }) => index === 24)?.text).toBe('Mon 29 Jun');
});

it('Tongatapu, 13 hours ahead: 28 June is 28 June', () => {
  const days = buckets('Pacific/Tongatapu', 'day', '2026-06-27T11:00:00Z', '2026-06-29T11:00:00Z');
  expect(timeAxis(days, 'Pacific/Tongatapu').long).toEqual(['Sun, 28 Jun 2026', 'Mon, 29 Jun 2026']);
});

it('the same hours shown in another zone keep their instants', () => {
  const hours = buckets('Asia/Kathmandu', 'hour', '2026-06-27T18:15:00Z', '2026-06-27T20:15:00Z');
  expect(timeAxis(hours, 'UTC').long[0]).toBe('Sat, 27 Jun 2026, 18:15 – 19:15 GMT+0');
});

it('marks stay few, whatever the range', () => {
  for (const days of [1, 2, 7, 14, 60]) {
    const to = new Date(Date.UTC(2026, 5, 1 + days)).toISOString();
    const hours = buckets('Europe/Berlin', 'hour', '2026-06-01T00:00:00Z', to);
    const { marks } = timeAxis(hours, 'Europe/Berlin');
    expect(marks.length).toBeLessThanOrEqual(9);
    expect(marks.length).toBeGreaterThanOrEqual(3);
  }
});
