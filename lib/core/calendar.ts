// Periods of the roll-ups in a project's own IANA zone: hours align to the local :00 (+05:45 too), days are local days
// of 23, 24 or 25 hours. Every offset in use is a multiple of 15 minutes, so a period depends on the 15-minute slot only
// and is looked up once per slot.

import { Temporal } from 'temporal-polyfill';
import type { Tier } from './cell';

const SLOT_S = 900;
const FIVE_MINUTES_S = 300;

export type Period = { tier: Tier; startS: number };

/** Periods of one zone. Throws RangeError for an unknown zone. Keeps its look-ups, so hold one a task. */
export class Calendar {
  private readonly hours = new Map<number, number>();
  private readonly days = new Map<number, number>();

  constructor(readonly zone: string) {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
  }

  private local(seconds: number): Temporal.ZonedDateTime {
    return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(this.zone);
  }

  /** The local :00, or the change of offset after it: Lord Howe shifts by 30 minutes, so some of its hours are shorter. */
  private hourStartS(local: Temporal.ZonedDateTime): number {
    const seconds = Math.floor(local.epochMilliseconds / 1000);
    let start = seconds - local.minute * 60 - local.second;
    while (start < seconds && this.local(start).offsetNanoseconds !== local.offsetNanoseconds) start += SLOT_S;
    return start;
  }

  /** Start (seconds since the epoch) of the period that holds the instant (µs since the epoch). */
  startS(tier: Tier, us: number): number {
    const seconds = Math.floor(us / 1e6);
    if (tier === '5min') return seconds - (seconds % FIVE_MINUTES_S);
    const slot = seconds - (seconds % SLOT_S);
    const cache = tier === 'hour' ? this.hours : this.days;
    let start = cache.get(slot);
    if (start === undefined) {
      const local = this.local(slot);
      start = tier === 'hour' ? this.hourStartS(local) : Math.floor(local.startOfDay().epochMilliseconds / 1000);
      cache.set(slot, start);
    }
    return start;
  }

  /** End (seconds since the epoch, exclusive) of the period that starts at `startS`. */
  endS(tier: Tier, startS: number): number {
    if (tier === '5min') return startS + FIVE_MINUTES_S;
    if (tier === 'hour') {
      let end = startS + SLOT_S;
      while (end < startS + 3600 && this.startS('hour', end * 1e6) === startS) end += SLOT_S;
      return end;
    }
    return Math.floor(this.local(startS).add({ days: 1 }).startOfDay().epochMilliseconds / 1000);
  }

  /**
   * The periods that cover [fromUs, toUs) snapped outward to the finest tier: whole local days inside where `days`
   * allows it, hours around them, five minutes at the edges.
   */
  cover(fromUs: number, toUs: number, options: { finest: Tier; coarsest?: Tier }): Period[] {
    const { finest, coarsest = 'day' } = options;
    const from = this.startS(finest, fromUs);
    const lastStart = this.startS(finest, Math.max(fromUs, toUs - 1));
    const to = this.endS(finest, lastStart);
    const order: Tier[] = ['day', 'hour', '5min'];
    const tiers = order.slice(order.indexOf(coarsest), order.indexOf(finest) + 1);
    const periods: Period[] = [];
    let at = from;
    while (at < to) {
      const tier = tiers.find((t) => this.startS(t, at * 1e6) === at && this.endS(t, at) <= to) ?? finest;
      periods.push({ tier, startS: at });
      at = this.endS(tier, at);
    }
    return periods;
  }
}
