// Named ranges on days of 23 and 25 hours, in zones off the whole hour and far ahead of UTC.
import { describe, expect, it } from 'vitest';
import { localToMs, msToLocal, presetRange, previousRange, type Range, sameWeekdayRange } from '@/lib/core/ranges';

const BERLIN = 'Europe/Berlin';
const at = (text: string) => Date.parse(text);
const hours = ({ fromMs, toMs }: Range) => (toMs - fromMs) / 3_600_000;

describe('calendar presets', () => {
  it.each([
    ['the day of 23 hours', '2026-03-30T10:00:00Z', 23, '2026-03-28T23:00:00Z'],
    ['the day of 25 hours', '2026-10-26T10:00:00Z', 25, '2026-10-24T22:00:00Z'],
    ['an ordinary day', '2026-06-10T10:00:00Z', 24, '2026-06-08T22:00:00Z'],
  ])('yesterday is %s', (_, now, length, from) => {
    const range = presetRange('yesterday', at(now), BERLIN);
    expect(hours(range)).toBe(length);
    expect(range.fromMs).toBe(at(from));
  });

  it('the last complete week is Monday to Sunday, and ends before now', () => {
    const sunday = presetRange('week', at('2026-11-29T12:00:00Z'), BERLIN);
    expect(msToLocal(sunday.fromMs, BERLIN)).toBe('2026-11-16T00:00');
    const monday = presetRange('week', at('2026-11-30T00:30:00Z'), BERLIN);
    expect(msToLocal(monday.fromMs, BERLIN)).toBe('2026-11-23T00:00');
    expect(msToLocal(monday.toMs, BERLIN)).toBe('2026-11-30T00:00');
  });

  it('weeks and months with a change of clocks have an hour less or more', () => {
    expect(hours(presetRange('week', at('2026-03-31T10:00:00Z'), BERLIN))).toBe(167);
    expect(hours(presetRange('week', at('2026-10-27T10:00:00Z'), BERLIN))).toBe(169);
    expect(hours(presetRange('month', at('2026-04-10T10:00:00Z'), BERLIN))).toBe(31 * 24 - 1);
  });

  it('a day follows the zone: Kathmandu is 5:45 ahead, Tongatapu 13 hours', () => {
    const now = at('2026-11-30T18:30:00Z');
    expect(presetRange('today', now, 'Asia/Kathmandu').fromMs).toBe(at('2026-11-30T18:15:00Z'));
    expect(presetRange('today', now, 'Pacific/Tongatapu').fromMs).toBe(at('2026-11-30T11:00:00Z'));
  });
});

describe('what to compare with', () => {
  it('before a rolling range comes the same length', () => {
    const range = presetRange('24h', at('2026-03-29T12:00:00Z'), BERLIN);
    expect(previousRange(range, '24h', BERLIN)).toEqual({ fromMs: range.fromMs - 86_400_000, toMs: range.fromMs });
  });

  it('before a week of 167 hours comes the whole week before', () => {
    const week = presetRange('week', at('2026-03-31T10:00:00Z'), BERLIN);
    const before = previousRange(week, 'week', BERLIN);
    expect(hours(before)).toBe(168);
    expect(before.toMs).toBe(week.fromMs);
  });

  it('the same weekday keeps the hours of the clock across a change of them', () => {
    const range = { fromMs: localToMs('2026-03-30T09:00', BERLIN), toMs: localToMs('2026-03-30T17:00', BERLIN) };
    const before = sameWeekdayRange(range, BERLIN);
    expect(msToLocal(before.fromMs, BERLIN)).toBe('2026-03-23T09:00');
    expect(msToLocal(before.toMs, BERLIN)).toBe('2026-03-23T17:00');
  });

  it('the same weekday never overlaps the range', () => {
    const range = presetRange('28d', at('2026-11-30T12:00:00Z'), BERLIN);
    expect(sameWeekdayRange(range, BERLIN).toMs).toBeLessThanOrEqual(range.fromMs);
  });
});

it('a wall-clock time that the clocks skip is moved past the change; every other comes back as it was', () => {
  expect(localToMs('2026-03-29T02:30', BERLIN)).toBe(at('2026-03-29T01:30:00Z'));
  for (const text of ['2026-03-29T01:30', '2026-10-25T03:00', '2026-07-01T00:00'])
    expect(msToLocal(localToMs(text, BERLIN), BERLIN)).toBe(text);
});
