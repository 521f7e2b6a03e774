import { pool } from './pool';

export type QueueFloor = { cell: string; p10Us: number; n: number };

/** The pinned queue p10 of every cell, with the newest day; null when none was ever pinned. */
export async function loadQueueFloors(
  projectId: string,
): Promise<{ day: string; floorsUs: Map<string, number> } | null> {
  const { rows } = await pool().query<{ cell: string; day: string; p10_us: string }>(
    `SELECT cell, day::text AS day, p10_us FROM queue_floor WHERE project_id = $1 AND shard_key = 0`,
    [projectId],
  );
  if (rows.length === 0) return null;
  return {
    day: rows
      .map((row) => row.day)
      .sort()
      .at(-1)!,
    floorsUs: new Map(rows.map((row) => [row.cell, Number(row.p10_us)])),
  };
}

/** Pins floors for a day (YYYY-MM-DD); what is pinned for that day stays as it is. */
export async function saveQueueFloors(projectId: string, day: string, floors: readonly QueueFloor[]): Promise<void> {
  await pool().query(
    `INSERT INTO queue_floor (project_id, shard_key, cell, day, p10_us, n)
     SELECT $1, 0, c, $2::date, p, n FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS pin(c, p, n) ORDER BY c
     ON CONFLICT (project_id, shard_key, cell)
     DO UPDATE SET day = excluded.day, p10_us = excluded.p10_us, n = excluded.n WHERE queue_floor.day < excluded.day`,
    [projectId, day, floors.map((f) => f.cell), floors.map((f) => f.p10Us), floors.map((f) => f.n)],
  );
}
