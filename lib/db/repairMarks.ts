import type { PoolClient } from 'pg';
import { GROUPINGS, type Grouping, TIERS, type Tier } from '../core/cell';
import { pool } from './pool';

/** A cell of one grouping, tier and period (all its families) that is to be rebuilt from raw. */
export type RepairMark = { grouping: Grouping; tier: Tier; periodS: number; key: string };

export async function markForRepair(
  client: PoolClient,
  projectId: string,
  marks: readonly RepairMark[],
): Promise<void> {
  if (marks.length === 0) return;
  await client.query(
    `INSERT INTO rollup_repair (project_id, shard_key, grouping, tier, period, cell)
     SELECT DISTINCT $1::uuid, 0, g, t, p, c FROM unnest($2::smallint[], $3::smallint[], $4::bigint[], $5::text[]) AS m(g, t, p, c)
     ON CONFLICT (project_id, shard_key, tier, period, grouping, cell) DO NOTHING`,
    [
      projectId,
      marks.map((m) => GROUPINGS.indexOf(m.grouping)),
      marks.map((m) => TIERS.indexOf(m.tier)),
      marks.map((m) => String(m.periodS)),
      marks.map((m) => m.key),
    ],
  );
}

/** Takes (deletes) all marks of one tier and period of a project, the finest and oldest first; empty when none is left. */
export async function takeMarks(client: PoolClient, projectId: string): Promise<RepairMark[]> {
  const { rows } = await client.query<{ grouping: number; tier: number; period: string; cell: string }>(
    `DELETE FROM rollup_repair r USING (
       SELECT tier, period FROM rollup_repair WHERE project_id = $1 AND shard_key = 0 ORDER BY tier, period LIMIT 1
     ) AS next
     WHERE r.project_id = $1 AND r.shard_key = 0 AND r.tier = next.tier AND r.period = next.period
     RETURNING r.grouping, r.tier, r.period, r.cell`,
    [projectId],
  );
  return rows.map((row) => ({
    grouping: GROUPINGS[row.grouping]!,
    tier: TIERS[row.tier]!,
    periodS: Number(row.period),
    key: row.cell,
  }));
}

export async function deleteMarks(client: PoolClient, projectId: string): Promise<void> {
  await client.query('DELETE FROM rollup_repair WHERE project_id = $1 AND shard_key = 0', [projectId]);
}

export async function projectsWithMarks(): Promise<string[]> {
  const { rows } = await pool().query<{ project_id: string }>(
    'SELECT DISTINCT project_id FROM rollup_repair LIMIT 1000',
  );
  return rows.map((row) => row.project_id);
}
