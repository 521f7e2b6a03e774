import { v7 as uuidv7 } from 'uuid';
import { pool } from './pool';

/** Something that happened at a time: a deployment, a change of provider, an incident. */
export type Marker = { id: string; at: Date; label: string; version: string | null; kind: string };

export async function insertMarker(
  projectId: string,
  { marker, createdBy }: { marker: Omit<Marker, 'id'>; createdBy: string },
): Promise<Marker> {
  const stored = { id: uuidv7(), ...marker };
  await pool().query(
    `INSERT INTO marker (project_id, shard_key, id, at, label, version, kind, created_by)
     VALUES ($1, 0, $2, $3, $4, $5, $6, $7)`,
    [projectId, stored.id, stored.at, stored.label, stored.version, stored.kind, createdBy],
  );
  return stored;
}

/** The markers of a range (µs since the epoch, half-open), oldest first, at most `limit`. */
export async function readMarkers(
  projectId: string,
  { fromUs, toUs, limit }: { fromUs: number; toUs: number; limit: number },
): Promise<Marker[]> {
  const { rows } = await pool().query<Marker>(
    `SELECT id, at, label, version, kind FROM marker
     WHERE project_id = $1 AND shard_key = 0 AND at >= $2 AND at < $3 ORDER BY at, id LIMIT $4`,
    [projectId, new Date(fromUs / 1_000), new Date(toUs / 1_000), limit],
  );
  return rows;
}
