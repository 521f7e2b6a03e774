// Labels of buckets of time in a zone. Days of 23 and 25 hours need no care here: every bucket is an instant, and the
// hour that comes twice is told apart by its offset.

export type TimeAxis = {
  /** One a bucket, for tooltips and tables: "Sun, 25 Oct 2026, 02:00 – 03:00 GMT+1". */
  long: string[];
  /** Buckets with a mark on the axis, and the words there. */
  marks: { index: number; text: string }[];
};

type Bucket = { at: string; until: string };
type Local = { date: string; minutes: number; day: string };

const INTERVALS_MIN = [5, 15, 30, 60, 120, 180, 360, 720, 1440];

/** Describes buckets in a zone with at most about `most` marks. */
export function timeAxis(buckets: readonly Bucket[], zone: string, most = 9): TimeAxis {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options });
  const day = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
  const time = format({ hour: '2-digit', minute: '2-digit' });
  const timeWithOffset = format({ hour: '2-digit', minute: '2-digit', timeZoneName: 'shortOffset' });
  const brief = format({ weekday: 'short', day: 'numeric', month: 'short' });
  const localOf = (text: string): Local => {
    const at = new Date(text);
    const [hour = 0, minute = 0] = time.format(at).split(':').map(Number);
    return { date: day.format(at), minutes: hour * 60 + minute, day: brief.format(at) };
  };
  const locals = buckets.map((bucket) => localOf(bucket.at));
  const isDay = (bucket: Bucket) => Date.parse(bucket.until) - Date.parse(bucket.at) > 12 * 3_600_000;
  return {
    long: buckets.map((bucket, i) =>
      isDay(bucket)
        ? locals[i]!.date
        : `${locals[i]!.date}, ${time.format(new Date(bucket.at))} – ${timeWithOffset.format(new Date(bucket.until))}`,
    ),
    marks: marksOf(locals, most),
  };
}

function marksOf(locals: readonly Local[], most: number): TimeAxis['marks'] {
  // the first bucket at or after each multiple: hours of a zone off the whole hour begin where they begin
  const startsAt = (interval: number) =>
    locals.flatMap((local, index) => {
      const before = locals[index - 1];
      const step = Math.floor(local.minutes / interval);
      const isNew =
        before === undefined || before.date !== local.date || Math.floor(before.minutes / interval) !== step;
      const isExact = local.minutes % interval === 0;
      return (before === undefined ? isExact : isNew) ? [index] : [];
    });
  const interval = INTERVALS_MIN.find((minutes) => startsAt(minutes).length <= most) ?? 1440;
  const all = startsAt(interval);
  const every = Math.ceil(all.length / most);
  return all
    .filter((_, i) => i % every === 0)
    .map((index) => {
      const { minutes, day } = locals[index]!;
      const isDayStart = index === 0 ? minutes === 0 : locals[index - 1]!.day !== day;
      return { index, text: isDayStart ? day : clock(minutes) };
    });
}

const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
