// When the demonstration's requests arrive, and from where. Every hour of the week replays the trace's hour; each
// arrival is kept with a chance that follows the clients' daytime, so that the total comes out as asked.

import type { Draws } from './draws';
import type { Arrival, Measured } from './measured';

export const HOUR_MS = 3_600_000;

/** Where the users are: share of the traffic at their busiest, and offset of their clock from UTC. */
export const CLIENT_REGIONS = [
  { region: 'us-east-1', share: 0.3, utcOffsetHours: -5 },
  { region: 'eu-west-2', share: 0.25, utcOffsetHours: 0 },
  { region: 'eu-central-1', share: 0.18, utcOffsetHours: 1 },
  { region: 'ap-south-1', share: 0.12, utcOffsetHours: 5.5 },
  { region: 'sa-east-1', share: 0.08, utcOffsetHours: -3 },
  { region: 'ap-southeast-2', share: 0.07, utcOffsetHours: 10 },
] as const;

/** 0.15 at night to 1 in the middle of the local afternoon (14:00). */
export function activity(hourMs: number, utcOffsetHours: number): number {
  const localHour = (((hourMs / HOUR_MS + utcOffsetHours) % 24) + 24) % 24;
  return 0.15 + 0.85 * Math.max(0, Math.cos(((localHour - 14) / 24) * 2 * Math.PI)) ** 1.5;
}

/** How busy the whole service is in this hour, 0–1. */
export function load(hourMs: number): number {
  return CLIENT_REGIONS.reduce((sum, at) => sum + at.share * activity(hourMs, at.utcOffsetHours), 0);
}

export type Arrived = Arrival & { atMs: number; clientRegion: string };

/** The arrivals of the hour that starts at `hourMs`; about `perHourAtFullLoad` × load of them. */
export function arrivalsOfHour(
  measured: Pick<Measured, 'arrivals'>,
  hour: { hourMs: number; perHourAtFullLoad: number; draws: Draws },
): Arrived[] {
  const { hourMs, draws } = hour;
  const weights = CLIENT_REGIONS.map((at) => at.share * activity(hourMs, at.utcOffsetHours));
  const keep = Math.min(0.999, (hour.perHourAtFullLoad * load(hourMs)) / measured.arrivals.length);
  const kept: Arrived[] = [];
  // steps straight to the next one kept: geometric gaps are the same as a draw for each
  const gap = () => 1 + Math.floor(Math.log(1 - draws.uniform()) / Math.log(1 - keep));
  for (let at = gap() - 1; at < measured.arrivals.length; at += gap()) {
    const arrival = measured.arrivals[at];
    if (arrival === undefined) break;
    kept.push({ ...arrival, atMs: hourMs + arrival.offsetMs, clientRegion: regionBy(weights, draws) });
  }
  return kept;
}

function regionBy(weights: readonly number[], draws: Draws): string {
  let left = draws.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return (CLIENT_REGIONS[at] ?? CLIENT_REGIONS[0]).region;
}
