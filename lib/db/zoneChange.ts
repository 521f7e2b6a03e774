import type { Client } from './pendingChunks';
import { pool } from './pool';

/** Projects whose zone is to change. */
export async function projectsWantingZone(): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    'SELECT id FROM project WHERE wanted_time_zone IS NOT NULL ORDER BY id',
  );
  return rows.map((row) => row.id);
}

/** Makes the wanted zone the project's; false when nobody wants one any more. In the caller's transaction. */
export async function takeWantedZone(client: Client, projectId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE project SET time_zone = wanted_time_zone, wanted_time_zone = NULL
     WHERE id = $1 AND wanted_time_zone IS NOT NULL`,
    [projectId],
  );
  return rowCount === 1;
}
