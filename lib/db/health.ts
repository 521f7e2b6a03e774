import pg from 'pg';
import { env } from '../platform/env';
import { singleton } from '../platform/singleton';

const TIMEOUT_MS = 1_000;

interface HealthState {
  pool: pg.Pool;
  asking: Promise<boolean> | null;
}

/** Its own connection, so that a full pool does not look like a dead database. */
function state(): HealthState {
  return singleton('health', () => {
    const pool = new pg.Pool({
      connectionString: env().DATABASE_URL,
      max: 1,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    pool.on('error', () => {});
    return { pool, asking: null };
  });
}

/** Whether the database answers within a second. Calls at the same time share one question. */
export function isDatabaseReachable(): Promise<boolean> {
  const current = state();
  current.asking ??= current.pool
    .query('SELECT 1')
    .then(
      () => true,
      () => false,
    )
    .finally(() => {
      current.asking = null;
    });
  return current.asking;
}

export async function closeHealth(): Promise<void> {
  await state().pool.end();
}
