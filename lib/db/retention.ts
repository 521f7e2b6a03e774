import { FAMILIES, type Family, GROUPINGS, TIERS, type Tier } from '../core/cell';
import { inTransaction, lockFold } from './pendingChunks';
import { pool } from './pool';

/** How long a project keeps what, in days. */
export type Retention = { rawDays: number; fiveMinuteDays: number; hourDays: number; dayDays: number };

type Row = { id: string; raw_days: number; five_minute_days: number; hour_days: number; day_days: number };
const COLUMNS = 'id, raw_days, five_minute_days, hour_days, day_days';

const retentionOf = (row: Row): Retention => ({
  rawDays: row.raw_days,
  fiveMinuteDays: row.five_minute_days,
  hourDays: row.hour_days,
  dayDays: row.day_days,
});

export async function allRetentions(): Promise<Map<string, Retention>> {
  const { rows } = await pool().query<Row>(`SELECT ${COLUMNS} FROM project`);
  return new Map(rows.map((row) => [row.id, retentionOf(row)]));
}

/** Removes a project's raw requests before a UTC day, and notes that raw covers no more than from that day on. */
export async function deleteRawBefore(projectId: string, day: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    for (const table of ['hot_chunk', 'sealed_chunk', 'superseded', 'pending', 'quarantine']) {
      await client.query(`DELETE FROM ${table} WHERE project_id = $1 AND shard_key = 0 AND day < $2`, [projectId, day]);
    }
    await client.query(
      `UPDATE fold_state SET raw_from = greatest(coalesce(raw_from, $2::date), $2::date)
       WHERE project_id = $1 AND shard_key = 0`,
      [projectId, day],
    );
  });
}

/** Removes the roll-ups of a tier whose period began before an instant (s since the epoch). */
export async function deleteRollupsBefore(
  projectId: string,
  { tier, beforeS, families = FAMILIES }: { tier: Tier; beforeS: number; families?: readonly Family[] },
): Promise<void> {
  // By grouping and family, so that each is one walk of the primary key
  await pool().query(
    `DELETE FROM rollup r USING (
       SELECT g::smallint AS grouping, f AS family
       FROM generate_series(0, ${GROUPINGS.length - 1}) AS g, unnest($4::smallint[]) AS f
     ) AS place
     WHERE r.project_id = $1 AND r.shard_key = 0 AND r.grouping = place.grouping AND r.tier = $2
       AND r.family = place.family AND r.period < $3`,
    [projectId, TIERS.indexOf(tier), Math.floor(beforeS), families.map((f) => FAMILIES.indexOf(f))],
  );
}
