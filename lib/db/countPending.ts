import { pool } from './pool';

/** Requests of a project that are stored but not folded into roll-ups yet. */
export async function countPending(projectId: string): Promise<number> {
  const { rows } = await pool().query<{ n: string }>(
    'SELECT coalesce(sum(n), 0) AS n FROM pending WHERE project_id = $1 AND shard_key = 0',
    [projectId],
  );
  return Number(rows[0]?.n);
}
