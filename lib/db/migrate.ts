import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

/** The ORM's own lock id, so that its CLI and this runner never migrate at once. */
const MIGRATION_LOCK = 72_707_369;

const OLDEST_POSTGRES = 150_000;

const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`;

/**
 * Applies the folders under `directory` that the database does not have yet, in name order, and records them as
 * `prisma migrate deploy` would. Returns the names applied. Safe to run from several processes at once.
 */
export async function migrate(options: { connectionString: string; directory?: string }): Promise<string[]> {
  const directory = options.directory ?? path.resolve('prisma/migrations');
  const client = new pg.Client({ connectionString: options.connectionString });
  await client.connect();
  try {
    await checkVersion(client);
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(CREATE_HISTORY);
    const done = await appliedChecksums(client);
    const applied: string[] = [];
    for (const name of migrationNames(directory)) {
      const sql = readFileSync(path.join(directory, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const known = done.get(name);
      if (known === checksum) continue;
      if (known !== undefined)
        throw new Error(
          `Migration ${name} was edited after it was applied here: restore it and add a new one instead.`,
        );
      await applyOne(client, { name, sql, checksum });
      applied.push(name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

async function checkVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string; server_version: string }>(
    `SELECT current_setting('server_version_num') AS server_version_num, current_setting('server_version') AS server_version`,
  );
  if (Number(rows[0]?.server_version_num) < OLDEST_POSTGRES)
    throw new Error(`Postgres ${rows[0]?.server_version} is too old: 15 or newer is needed.`);
}

function migrationNames(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(directory, entry.name, 'migration.sql')))
    .map((entry) => entry.name)
    .sort();
}

async function appliedChecksums(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  );
  const failed = rows.filter((row) => row.finished_at === null).map((row) => row.migration_name);
  if (failed.length > 0)
    throw new Error(
      `Unfinished migration in the database: ${failed.join(', ')}. Look at what it left, then mark it with ` +
        '`prisma migrate resolve --rolled-back` or `--applied`.',
    );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

/** Row, SQL and finish in one transaction: a kill in between leaves nothing behind. */
async function applyOne(client: pg.Client, migration: { name: string; sql: string; checksum: string }): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query(migration.sql);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Migration ${migration.name} failed: ${reason}`, { cause: error });
  }
}
