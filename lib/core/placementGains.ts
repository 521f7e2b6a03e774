import type { QuantileKey, Value } from './estimate';
import type { LeverContext } from './floors';
import { pairedGains } from './pairedGain';
import { type PlacementScenario, placementGroups } from './placement';
import { createTrips } from './regions';
import { type SampledRequest, waitUs } from './request';
import type { Basis } from './terms';

/** A round trip between two regions and where the figure is from. */
export type RoundTrip = { ms: number; source: string };

/** One way to serve a client region from elsewhere, with what it would gain (negative: cost) at each percentile. */
export type ScenarioGain = Omit<PlacementScenario, 'chosen'> & {
  gain: Record<'p50' | 'p99', Value>;
  roundTrip: RoundTrip | null;
};

/** The requests from one client region to one service region, and the ways to place it, the largest gain first. */
export type ClientPlacement = {
  clientRegion: string;
  serviceRegion: string;
  n: number;
  /** Between them today. */
  roundTrip: RoundTrip | null;
  scenarios: ScenarioGain[];
};

const KEYS: readonly QuantileKey[] = ['p50', 'p99'];

/** Ranks the placements of each (client region, service region) of one endpoint's requests. Pure and repeatable. */
export function placementGains(question: {
  rows: readonly SampledRequest[];
  basis: Basis;
  context: LeverContext;
  seed: string;
}): ClientPlacement[] {
  const { basis, context, seed } = question;
  const rows = question.rows.filter((row) => waitUs(row, basis) !== null);
  const trips = createTrips(context.probedMs);
  return placementGroups(rows, context, trips).map(({ clientRegion, serviceRegion, rows: indexes, moves }) => {
    const gains = pairedGains({
      rows: indexes.map((i) => rows[i]!),
      waitUs: Float64Array.from(indexes, (i) => waitUs(rows[i]!, basis)!),
      savedUs: moves.map((move) => move.savedUs),
      keys: KEYS,
      seed: JSON.stringify([seed, clientRegion, serviceRegion]),
    });
    const scenarios = moves.map(({ scenario: { chosen: _, ...scenario } }, at): ScenarioGain => {
      const { p50, p99 } = gains[at] as Record<'p50' | 'p99', Value>;
      return { ...scenario, gain: { p50, p99 }, roundTrip: trips(clientRegion, scenario.toRegion) };
    });
    return {
      ...{ clientRegion, serviceRegion, n: indexes.length },
      roundTrip: trips(clientRegion, serviceRegion),
      scenarios: scenarios.sort((a, b) => rankOf(b) - rankOf(a)),
    };
  });
}

/** p99 where it can be told, else the mean. */
const rankOf = ({ gain, meanSavedMs }: ScenarioGain) => gain.p99.ms ?? meanSavedMs;
