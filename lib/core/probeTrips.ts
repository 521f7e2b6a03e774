// Round trips that probes saw, pair of places by pair of places.

import { tripName } from './regions';
import type { SampledRequest } from './request';

/** Below this many probes a p50 would be chance; the table then tells the round trip. */
const SMALLEST_N = 20;

/** `trip` as `tripName` names it; `n`: what the probes that told it stand for. */
export type ProbeTrip = { trip: string; p50Us: number; n: number };

/** The p50 (µs, nearest rank, weights counted) of `rttUs` of each (client region, service region) with enough probes. */
export function probeTrips(rows: readonly SampledRequest[]): ProbeTrip[] {
  const byTrip = new Map<string, { us: number; weight: number }[]>();
  for (const { dims, rttUs, weight } of rows) {
    if (dims.vantage !== 'probe' || dims.clientRegion === null || dims.serviceRegion === null || rttUs === null)
      continue;
    const trip = tripName(dims.clientRegion, dims.serviceRegion);
    const seen = byTrip.get(trip);
    if (seen === undefined) byTrip.set(trip, [{ us: rttUs, weight }]);
    else seen.push({ us: rttUs, weight });
  }
  return [...byTrip]
    .filter(([, seen]) => seen.length >= SMALLEST_N)
    .map(([trip, seen]) => ({ trip, ...medianOf(seen) }))
    .sort((a, b) => (a.trip < b.trip ? -1 : 1));
}

function medianOf(seen: { us: number; weight: number }[]): { p50Us: number; n: number } {
  seen.sort((a, b) => a.us - b.us);
  const total = seen.reduce((sum, { weight }) => sum + weight, 0);
  let reached = 0;
  const at = seen.findIndex(({ weight }) => {
    reached += weight;
    return reached >= total / 2 - 1e-9;
  });
  return { p50Us: seen[at]!.us, n: Math.round(total) };
}
