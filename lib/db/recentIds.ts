import { pool } from './pool';

/** Every id stored in the last `minutes`, of all projects, to refill the table of recent ids at start. */
export async function recentIds(minutes: number): Promise<{ projectId: string; ids: string[] }[]> {
  const { rows } = await pool().query<{ project_id: string; ids: string[] }>(
    `SELECT project_id, array_to_json(ids) AS ids FROM hot_chunk
     WHERE received_at > now() - make_interval(mins => $1) ORDER BY received_at DESC LIMIT 5000`,
    [minutes],
  );
  return rows.map((r) => ({ projectId: r.project_id, ids: r.ids }));
}
