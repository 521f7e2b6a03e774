// A process of its own (DATABASE_URL says where): are a project's roll-ups those of a rebuild? Exits with 0 or 3.
import { pool } from '../../lib/db/pool';
import { compactAll, rebuildProject } from '../../lib/rollup/rebuildProject';

/** Every roll-up row without what differs by nature (its part's id), as one text. */
async function rollups(): Promise<string> {
  const { rows } = await pool().query<{ row: string }>(
    `SELECT concat_ws(' ', grouping, tier, family, period, block, first_cell, last_cell, md5(body)) AS row
     FROM rollup ORDER BY grouping, tier, family, period, block`,
  );
  return rows.map(({ row }) => row).join('\n');
}

const projectId = process.argv[2]!;
await compactAll(projectId);
const incremental = await rollups();
await rebuildProject(projectId);
const rebuilt = await rollups();
await pool().end();
process.exit(incremental !== '' && incremental === rebuilt ? 0 : 3);
