import type { ClientPlacement } from '@/lib/core/placementGains';

/**
 * What the best other place would save a pair at p99 (ms): 0 when every place costs, or none is nearer. Words when it
 * cannot be told.
 */
export function bestGain(
  placements: readonly ClientPlacement[],
  pair: { clientRegion: string | null; serviceRegion: string | null; roundTrip: { ms: number } | null },
): number | 'not known' | 'too few requests' {
  const placement = placements.find(
    (one) => one.clientRegion === pair.clientRegion && one.serviceRegion === pair.serviceRegion,
  );
  if (placement === undefined) return pair.roundTrip === null ? 'not known' : 0;
  const gains = placement.scenarios.map((scenario) => scenario.gain.p99.ms).filter((ms) => ms !== null);
  return gains.length === 0 ? 'too few requests' : Math.max(0, ...gains);
}
