// One partition a UTC day of each event table. Made beside the table and attached, never with a lock that waits
// long: CREATE … PARTITION OF would take ACCESS EXCLUSIVE on the parent and queue every INSERT behind it.

import type { PoolClient } from 'pg';
import { singleton } from '../platform/singleton';
import { pool } from './pool';

const TABLES = ['hot_chunk', 'ledger', 'sealed_chunk', 'span_chunk', 'assembled_trace'] as const;
const ATTEMPTS = 10;

/** Days known to exist, per pool: a test process may talk to several databases. */
function known(): Set<string> {
  const byPool = singleton('partitions', () => new WeakMap<object, Set<string>>());
  let days = byPool.get(pool());
  if (!days) {
    days = new Set();
    byPool.set(pool(), days);
  }
  return days;
}

/** UTC day (YYYY-MM-DD) of a time in µs since the epoch. */
export function utcDay(us: number): string {
  return new Date(Math.floor(us / 1_000)).toISOString().slice(0, 10);
}

/** The UTC day `offset` days after `day`. */
export function addDays(day: string, offset: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + offset * 86_400_000).toISOString().slice(0, 10);
}

/** Yesterday to the day after tomorrow: what should always stand ready. `nowMs` is ms since the epoch. */
export function daysAhead(nowMs: number): string[] {
  const today = utcDay(nowMs * 1_000);
  return [-1, 0, 1, 2].map((offset) => addDays(today, offset));
}

/** Makes the partitions of these UTC days (YYYY-MM-DD) unless they exist. Cheap when they are known. */
export async function ensurePartitions(days: Iterable<string>): Promise<void> {
  for (const day of new Set(days)) {
    if (known().has(day)) continue;
    for (const table of TABLES) await ensurePartition(table, day);
    known().add(day);
  }
}

/** Forgets which partitions exist, after a row found none (retention dropped it, or the database is another one). */
export function forgetPartitions(): void {
  known().clear();
}

async function ensurePartition(table: (typeof TABLES)[number], day: string): Promise<void> {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new Error(`not a UTC day: ${day}; pass YYYY-MM-DD`);
  const name = `${table}_${day.replaceAll('-', '')}`;
  for (let attempt = 1; ; attempt++) {
    try {
      return await createAndAttach(table, name, day);
    } catch (error) {
      // 55P03: the lock was not free within 2 s; 40P01: deadlock. Both pass by trying again.
      const code = (error as { code?: string }).code;
      if (attempt >= ATTEMPTS || (code !== '55P03' && code !== '40P01')) throw error;
    }
  }
}

async function createAndAttach(table: string, name: string, day: string): Promise<void> {
  const client = await pool().connect();
  let failed: Error | undefined;
  try {
    await client.query('BEGIN');
    await client.query("SET LOCAL lock_timeout = '2s'");
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [name]);
    const { rows } = await client.query<{ exists: boolean; attached: boolean }>(
      `SELECT to_regclass($1) IS NOT NULL AS exists,
              EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1)) AS attached`,
      [name],
    );
    if (!rows[0]!.exists) await createLike(client, table, name);
    if (!rows[0]!.attached) {
      await client.query(
        `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${addDays(day, 1)}')`,
      );
    }
    await client.query('COMMIT');
  } catch (error) {
    failed = error as Error;
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release(failed);
  }
}

/** LIKE does not copy of which columns ANALYZE keeps no statistics. */
async function createLike(client: PoolClient, table: string, name: string): Promise<void> {
  await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
  const { rows } = await client.query<{ columns: string | null }>(
    `SELECT string_agg(format('ALTER COLUMN %I SET STATISTICS 0', attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = $1::regclass AND attstattarget = 0 AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  if (rows[0]!.columns !== null) await client.query(`ALTER TABLE ${name} ${rows[0]!.columns}`);
}
