import { Temporal } from 'temporal-polyfill';
import type { Snapshot } from '../db/snapshot';

/**
 * What an answer is about: the range after snapping outward, and the instant it was read at (RFC 3339, written in the
 * zone asked for, else UTC). `timeZone` is the project's, in which days and hours begin.
 */
export type AnswerRange = { effectiveFrom: string; effectiveTo: string; asOf: string; timeZone: string };

/** An instant (ms) as RFC 3339 in a zone. */
export function formatInstant(ms: number, zone: string | null): string {
  if (zone === null) return new Date(ms).toISOString();
  return Temporal.Instant.fromEpochMilliseconds(ms).toString({ timeZone: zone, fractionalSecondDigits: 3 });
}

export function rangeOf(
  snapshot: Snapshot,
  answer: { effectiveFromUs: number; effectiveToUs: number },
  zone: string | null,
): AnswerRange {
  return {
    effectiveFrom: formatInstant(answer.effectiveFromUs / 1000, zone),
    effectiveTo: formatInstant(answer.effectiveToUs / 1000, zone),
    asOf: formatInstant(snapshot.asOf.getTime(), zone),
    timeZone: snapshot.calendar.zone,
  };
}
