import { countUnknownFields, eventSchema, type IngestEvent, MAX_DEPTH } from './contract';
import { hotCheck } from './hotCheck';
import { shapeFault } from './shape';

/** Why an item was refused; the name under which it is counted. */
export type RejectReason = 'invalid' | 'too_deep' | 'too_old' | 'future' | 'inconsistent';

export type Rejection = { index: number; id?: string; path: string; message: string };
export type Refused = { ok: false; reason: RejectReason; path: string; message: string };
export type Validated = {
  ok: true;
  event: IngestEvent;
  /** As the client said it, and moved by its clock's skew. µs since the epoch. */
  sentAtUs: number;
  startedAtUs: number;
  late: boolean;
  unknownFields: number;
};

const FUTURE_US = 5 * 60_000_000;
const LATE_US = 24 * 3_600_000_000;
const OLD_US = 35 * 86_400_000_000;
const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,12})?([Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 or milliseconds since the epoch → µs since the epoch; null when it is neither. */
export function parseTimeUs(time: string | number): number | null {
  if (typeof time === 'number') {
    return Number.isFinite(time) && Math.abs(time) < 8.64e15 / 1_000 ? Math.round(time * 1_000) : null;
  }
  const match = RFC3339.exec(time);
  if (!match) return null;
  const ms = Date.parse(`${match[1]}T${match[2]}${match[4]!.toUpperCase()}`);
  if (Number.isNaN(ms)) return null;
  return ms * 1_000 + Math.round(Number(`0${match[3] ?? ''}`) * 1_000_000);
}

/** Checks one item of a batch. `nowUs` and `skewUs` (receipt − sending, 0 when small) in µs. Never throws. */
export function validate(item: unknown, clock: { nowUs: number; skewUs: number }): Validated | Refused {
  const checked = hotCheck(item) ?? schemaCheck(item);
  if ('ok' in checked) return checked;
  const { event, unknownFields } = checked;
  const sentAtUs = parseTimeUs(event.startedAt);
  if (sentAtUs === null) {
    return refuse('invalid', 'startedAt', 'must be an RFC 3339 time with a zone, or milliseconds since 1970');
  }
  const startedAtUs = sentAtUs + clock.skewUs;
  if (startedAtUs > clock.nowUs + FUTURE_US) {
    return refuse('future', 'startedAt', 'is more than 5 minutes in the future: check the clock, or the unit (ms)');
  }
  if (startedAtUs < clock.nowUs - OLD_US) {
    return refuse('too_old', 'startedAt', 'is more than 35 days ago: older requests are not taken (is the unit ms?)');
  }
  const late = startedAtUs < clock.nowUs - LATE_US;
  return { ok: true, event, sentAtUs, startedAtUs, late, unknownFields };
}

/** What the contract says of an item: the event, or what is wrong with it. */
export function schemaCheck(item: unknown): { event: IngestEvent; unknownFields: number } | Refused {
  const fault = shapeFault(item, 1);
  if (fault === 'too_deep') return refuse('too_deep', '', `is nested deeper than ${MAX_DEPTH} levels`);
  if (fault === 'not_an_object') return refuse('invalid', '', 'must be an object');
  if (fault === 'prototype') return refuse('invalid', '__proto__', 'is not allowed as a name: remove it');
  const parsed = eventSchema.safeParse(item);
  if (parsed.success) return { event: parsed.data, unknownFields: countUnknownFields(item as Record<string, unknown>) };
  const issue = parsed.error.issues[0]!;
  return refuse('invalid', issue.path.map(String).join('.'), issue.message);
}

function refuse(reason: RejectReason, path: string, message: string): Refused {
  return { ok: false, reason, path, message };
}
