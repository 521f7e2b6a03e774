// Named ranges of time in a zone. Calendar ranges are local: a day of a change of clocks has 23 or 25 hours, a week runs
// from Monday to Sunday, and what comes before a week is the week before, whatever the clocks did in between.

import { Temporal } from 'temporal-polyfill';

/** Half-open, ms since the epoch. */
export type Range = { fromMs: number; toMs: number };

const HOUR_MS = 3_600_000;
const ROLLING_HOURS = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '28d': 672, '90d': 2_160 } as const;
const CALENDAR_UNITS = { today: 'days', yesterday: 'days', week: 'weeks', month: 'months' } as const;

export type RollingPreset = keyof typeof ROLLING_HOURS;
export type CalendarPreset = keyof typeof CALENDAR_UNITS;
export type RangePreset = RollingPreset | CalendarPreset;

export const RANGE_PRESETS: readonly RangePreset[] = [
  ...(Object.keys(ROLLING_HOURS) as RollingPreset[]),
  ...(Object.keys(CALENDAR_UNITS) as CalendarPreset[]),
];

const zoned = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
const isCalendar = (preset: RangePreset | null): preset is CalendarPreset =>
  preset !== null && Object.hasOwn(CALENDAR_UNITS, preset);

/** A preset as instants: `week` and `month` are the last complete ones, `today` ends now. */
export function presetRange(preset: RangePreset, nowMs: number, zone: string): Range {
  if (!isCalendar(preset)) return { fromMs: nowMs - ROLLING_HOURS[preset] * HOUR_MS, toMs: nowMs };
  const today = zoned(nowMs, zone).startOfDay();
  const between = (from: Temporal.ZonedDateTime, to: Temporal.ZonedDateTime) => ({
    fromMs: from.startOfDay().epochMilliseconds,
    toMs: to.startOfDay().epochMilliseconds,
  });
  switch (preset) {
    case 'today':
      return { fromMs: today.epochMilliseconds, toMs: Math.max(nowMs, today.epochMilliseconds + 1) };
    case 'yesterday':
      return between(today.subtract({ days: 1 }), today);
    case 'week': {
      const monday = today.subtract({ days: today.dayOfWeek - 1 });
      return between(monday.subtract({ weeks: 1 }), monday);
    }
    case 'month': {
      const first = today.with({ day: 1 });
      return between(first.subtract({ months: 1 }), first);
    }
  }
}

/** What comes before: the calendar unit before for a calendar preset, else the same length that ends where this starts. */
export function previousRange({ fromMs, toMs }: Range, preset: RangePreset | null, zone: string): Range {
  if (!isCalendar(preset)) return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
  return shifted({ fromMs, toMs }, { [CALENDAR_UNITS[preset]]: 1 }, zone);
}

/** The same days of the week and hours of the clock, as many whole weeks earlier as it takes not to overlap. */
export function sameWeekdayRange(range: Range, zone: string): Range {
  const weeks = Math.max(1, Math.ceil((range.toMs - range.fromMs) / (168 * HOUR_MS) - 0.01));
  return shifted(range, { weeks }, zone);
}

function shifted({ fromMs, toMs }: Range, by: Temporal.DurationLike, zone: string): Range {
  const back = (ms: number) => zoned(ms, zone).subtract(by).epochMilliseconds;
  return { fromMs: back(fromMs), toMs: back(toMs) };
}

/** A wall-clock time ("2026-03-29T02:30") as an instant (ms); one that the clocks skip is moved past the change. */
export function localToMs(text: string, zone: string): number {
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/** An instant as a wall-clock time to the minute: "2026-03-29T01:30". */
export function msToLocal(ms: number, zone: string): string {
  return zoned(ms, zone).toPlainDateTime().toString({ smallestUnit: 'minute' });
}
