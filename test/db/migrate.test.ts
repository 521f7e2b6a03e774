import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../lib/db/migrate';
import { createTestDatabase, type TestDatabase } from '../support/database';

describe('migrate', () => {
  let database: TestDatabase;
  let directory: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(path.join(os.tmpdir(), 'isochrone-migrations-'));
    cpSync('prisma/migrations', directory, { recursive: true });
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true });
  });

  const add = (name: string, sql: string) => {
    mkdirSync(path.join(directory, name), { recursive: true });
    writeFileSync(path.join(directory, name, 'migration.sql'), sql);
  };
  const names = async () =>
    (await database.query<{ migration_name: string }>('SELECT migration_name FROM _prisma_migrations')).map(
      (row) => row.migration_name,
    );

  it('does nothing the second time', async () => {
    expect(await migrate({ connectionString: database.url, directory })).toEqual([]);
  });

  it('leaves nothing of a migration that fails, and applies it once it is right', async () => {
    add('20990101000000_later', 'CREATE TABLE later (a int); SELECT 1/0;');
    await expect(migrate({ connectionString: database.url, directory })).rejects.toThrow(/20990101000000_later failed/);
    expect(await names()).not.toContain('20990101000000_later');
    expect((await database.query(`SELECT to_regclass('later') AS t`))[0]).toEqual({ t: null });
    add('20990101000000_later', 'CREATE TABLE later (a int);');
    const both = await Promise.all([1, 2].map(() => migrate({ connectionString: database.url, directory })));
    expect(both.flat()).toEqual(['20990101000000_later']);
  });

  it('refuses an applied migration that was edited', async () => {
    add('20990101000000_later', 'CREATE TABLE later (a int, b int);');
    await expect(migrate({ connectionString: database.url, directory })).rejects.toThrow(/edited after it was applied/);
  });

  it('runs as a role that is not a superuser', async () => {
    const [row] = await database.query('SELECT rolsuper FROM pg_roles WHERE rolname = current_user');
    expect(row).toEqual({ rolsuper: false });
  });
});
