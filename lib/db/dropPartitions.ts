// Partitions leave by DETACH CONCURRENTLY, then DROP: a plain DROP of an attached one takes ACCESS EXCLUSIVE on the
// parent, and while it waits for a long read every INSERT of every day queues behind it.

import pg from 'pg';
import { env } from '../platform/env';
import { addDays, forgetPartitions, utcDay } from './partitions';
import { pool } from './pool';

const LOCK_TIMEOUT_MS = 2_000;
const PARTITIONED = ['hot_chunk', 'sealed_chunk', 'ledger', 'span_chunk', 'assembled_trace'] as const;
export type PartitionedTable = (typeof PARTITIONED)[number];

export type Partition = { table: PartitionedTable; day: string; name: string; isDetaching: boolean };

/** The partitions there are, those half detached by an attempt that was given up too. */
export async function listPartitions(): Promise<Partition[]> {
  const { rows } = await pool().query<{ parent: PartitionedTable; name: string; detaching: boolean }>(
    `SELECT p.relname AS parent, c.relname AS name, i.inhdetachpending AS detaching
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relname = ANY($1) AND c.relname = p.relname || '_' || substring(c.relname FROM '[0-9]{8}$')`,
    [PARTITIONED],
  );
  return rows.map(({ parent, name, detaching }) => {
    const digits = name.slice(-8);
    const day = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
    return { table: parent, day, name, isDetaching: detaching };
  });
}

/** SQLSTATEs of an attempt that may go better later: lock or statement timeout, deadlock, object in use. */
const PASSING = ['55P03', '57014', '40P01', '55006'];

/**
 * Drops one partition; false when it was in use for too long (the next attempt goes on where this one ended). Nobody who
 * inserts waits for it. `rescue` is run on the detached table, under its new name, before it goes.
 */
export async function dropPartition(
  partition: Partition,
  rescue?: (client: pg.Client, detached: string) => Promise<void>,
): Promise<boolean> {
  // A connection of its own: DETACH CONCURRENTLY runs in no transaction, and the lock below is the session's.
  const client = new pg.Client({ connectionString: env().DATABASE_URL });
  await client.connect();
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    // Whoever makes partitions holds the same lock: between DETACH and the new name nobody attaches the table again.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [partition.name]);
    const { name, table } = partition;
    await client.query(
      `ALTER TABLE ${table} DETACH PARTITION ${name} ${partition.isDetaching ? 'FINALIZE' : 'CONCURRENTLY'}`,
    );
    const detached = `${name}_detached`;
    await client.query(`ALTER TABLE ${name} RENAME TO ${detached}`);
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [partition.name]);
    forgetPartitions();
    await rescue?.(client, detached);
    await client.query(`DROP TABLE ${detached}`);
    return true;
  } catch (error) {
    if (PASSING.includes((error as { code?: string }).code ?? '')) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/** Drops tables that were detached by a process that died before it could. */
export async function dropLeftOvers(): Promise<void> {
  const { rows } = await pool().query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind = 'r' AND NOT c.relispartition
       AND c.relname ~ '^(${PARTITIONED.join('|')})_[0-9]{8}(_detached)?$'`,
  );
  for (const { name } of rows) await pool().query(`DROP TABLE IF EXISTS ${name}`);
}

/** Whether a partition of the ledger holds a post of the last 24 hours. */
export async function hasRecentPosts(partition: Partition): Promise<boolean> {
  const { rows } = await pool().query<{ recent: boolean }>(
    `SELECT EXISTS (SELECT FROM ${partition.name} WHERE received_at > now() - interval '24 hours') AS recent`,
  );
  return rows[0]!.recent;
}

const EMPTY_BYTES = 1_000_000;

/** Gives back the room of hot partitions whose rows are all sealed. It waits for nobody and nobody waits for it. */
export async function shrinkSealedDays(nowMs: number): Promise<void> {
  const today = utcDay(nowMs * 1_000);
  for (const { table, day, name } of await listPartitions()) {
    if (table !== 'hot_chunk' || day >= today || day < addDays(today, -40)) continue;
    const { rows } = await pool().query<{ idle: boolean }>(
      `SELECT pg_total_relation_size($1) > ${EMPTY_BYTES} AND NOT EXISTS (SELECT FROM ${name}) AS idle`,
      [name],
    );
    if (rows[0]!.idle) await pool().query(`VACUUM ${name}`);
  }
}
