import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  name: string;
  /** What DATABASE_URL now is: the owner role, not a superuser. */
  url: string;
  /** Superuser connection to the same database. */
  adminUrl: string;
  /** One statement as the owner role. */
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Ends the database with whatever is still connected to it. Call in afterAll. */
  drop(): Promise<void>;
}

/**
 * A fresh copy of the migrated template for this test file (call in beforeAll). Points DATABASE_URL and
 * ISOCHRONE_SECRET to it, so that the code under test finds it the way it does in production.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE isochrone_template OWNER isochrone STRATEGY FILE_COPY`);
  const url = withDatabase(inject('databaseOwnerUrl'), name);
  process.env.DATABASE_URL = url;
  process.env.ISOCHRONE_SECRET = 'a secret for tests, thirty-two characters or more';
  process.env.LOG_LEVEL ??= 'silent';
  const own = new pg.Pool({ connectionString: url, max: 2 });
  own.on('error', () => {});
  return {
    name,
    url,
    adminUrl: withDatabase(inject('databaseAdminUrl'), name),
    query: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await own.query<Row>(sql, values)).rows,
    drop: async () => {
      await own.end();
      await asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseAdminUrl') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
