import { forgetCellKeys } from './cellKeys';
import { pool } from './pool';
import { prisma } from './prisma';

const EVENT_TABLES = ['pending', 'rollup', 'hot_chunk', 'ledger', 'quarantine', 'series', 'attribute_set'].concat([
  'ingest_count',
  'ingest_key_day',
  'fold_state',
  'sealed_chunk',
  'superseded',
  'seal_state',
  'rollup_repair',
  'marker',
  'cell_key',
  'span_pending',
  'span_chunk',
  'assembled_trace',
  'assembly_lease',
  'replica_start',
  'broker_use',
  'queue_floor',
  'probe_trip',
]);

/**
 * Removes a project with its keys, members, settings and everything stored of it. The project row goes first, so that
 * nothing new is accepted while the events go; runs under the fold's lock of the project.
 */
export async function eraseProject(projectId: string): Promise<void> {
  await prisma().project.deleteMany({ where: { id: projectId } });
  const client = await pool().connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM fold_state WHERE project_id = $1 FOR UPDATE', [projectId]);
    // table names are the constants above
    for (const table of EVENT_TABLES) await client.query(`DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
    await client.query('COMMIT');
    forgetCellKeys(projectId);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
