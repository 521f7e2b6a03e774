import type { ProbeTrip } from '../core/probeTrips';
import { pool } from './pool';

/** Pinned round trips of own probes in ms, by `tripName`. */
export async function loadProbeTrips(projectId: string): Promise<Map<string, number>> {
  const { rows } = await pool().query<{ trip: string; p50_us: string }>(
    'SELECT trip, p50_us FROM probe_trip WHERE project_id = $1 AND shard_key = 0',
    [projectId],
  );
  return new Map(rows.map((row) => [row.trip, Number(row.p50_us) / 1000]));
}

/**
 * Pins round trips for a day (YYYY-MM-DD): what is pinned for that day stays as it is, and pairs that are not among
 * `trips` are forgotten.
 */
export async function saveProbeTrips(projectId: string, day: string, trips: readonly ProbeTrip[]): Promise<void> {
  const names = trips.map(({ trip }) => trip);
  await pool().query('DELETE FROM probe_trip WHERE project_id = $1 AND shard_key = 0 AND trip <> ALL($2::text[])', [
    projectId,
    names,
  ]);
  if (trips.length === 0) return;
  await pool().query(
    `INSERT INTO probe_trip (project_id, shard_key, trip, day, p50_us, n)
     SELECT $1, 0, t, $2::date, p, n FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS pin(t, p, n) ORDER BY t
     ON CONFLICT (project_id, shard_key, trip)
     DO UPDATE SET day = excluded.day, p50_us = excluded.p50_us, n = excluded.n WHERE probe_trip.day < excluded.day`,
    [projectId, day, names, trips.map(({ p50Us }) => Math.round(p50Us)), trips.map(({ n }) => n)],
  );
}
