import { probeTrips } from '../core/probeTrips';
import type { Dimensions } from '../core/request';
import { allProjectIds } from '../db/endpointClasses';
import { saveProbeTrips } from '../db/probeTrips';
import { loadAllSeries } from '../db/series';
import { withSnapshot } from '../db/snapshot';

const DAYS = 7;
const DAY_MS = 86_400_000;
/** Whole requests of one client region's probes: far more than a p50 needs. */
const MOST_ROWS = 4_096;

/**
 * Pins the round trips that a project's probes saw over 7 days, for the UTC day of `nowMs`: a pair keeps its figure
 * through the day, and a new pair has one with the next run. Read from the samples of the probes' own cells.
 */
export async function pinProbeTripsOf(projectId: string, nowMs: number): Promise<void> {
  const leading = cellsOf(await loadAllSeries(projectId));
  const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const rows = leading.length === 0 ? [] : await probesOf(projectId, { leading, fromMs: dayMs - DAYS * DAY_MS, nowMs });
  await saveProbeTrips(projectId, new Date(dayMs).toISOString().slice(0, 10), probeTrips(rows));
}

/** The same for every project. */
export async function pinProbeTrips(nowMs: number): Promise<void> {
  for (const projectId of await allProjectIds()) await pinProbeTripsOf(projectId, nowMs);
}

type Cell = { endpoint: string; clientRegion: string };

/** The cells of probes that tell both ends of their way. */
function cellsOf(series: readonly Dimensions[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (const { vantage, endpoint, clientRegion, serviceRegion } of series)
    if (vantage === 'probe' && clientRegion !== null && serviceRegion !== null)
      cells.set(JSON.stringify([endpoint, clientRegion]), { endpoint, clientRegion });
  return [...cells.values()];
}

async function probesOf(
  projectId: string,
  { leading, fromMs, nowMs }: { leading: readonly Cell[]; fromMs: number; nowMs: number },
) {
  const { samples } = await withSnapshot(projectId, (snapshot) =>
    snapshot.readSamples({
      range: { fromUs: fromMs * 1_000, toUs: nowMs * 1_000, finest: 'day' },
      ...{ basis: 'e2e', thin: false, leading, mostRows: MOST_ROWS },
      keep: (key) => key.vantage === 'probe',
      groupOf: (key) => key.clientRegion ?? null,
    }),
  );
  return [...samples.values()].flatMap(({ rows }) => rows);
}
