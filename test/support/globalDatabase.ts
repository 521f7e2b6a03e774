import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../bin/embeddedPostgres.mjs';
import { migrate } from '../../lib/db/migrate';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection to the run's Postgres. */
    databaseAdminUrl: string;
    /** The owner role of every test database; not a superuser, so privileges can be revoked. */
    databaseOwnerUrl: string;
  }
}

/** One real Postgres for the whole run, with a migrated template database that each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'isochrone-test-'));
  chmodSync(dataDir, 0o755);
  const settings = ['fsync=off', 'full_page_writes=off', 'shared_buffers=128MB'];
  const postgres = await startEmbeddedPostgres({ dataDir, settings });
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE isochrone_template OWNER isochrone');
  await admin.end();
  await migrate({ connectionString: postgres.url.replace(/isochrone$/, 'isochrone_template') });
  project.provide('databaseAdminUrl', postgres.adminUrl);
  project.provide('databaseOwnerUrl', postgres.url);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
