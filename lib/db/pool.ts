import pg from 'pg';
import { env } from '../platform/env';
import { singleton } from '../platform/singleton';

/** The connection pool of the hot paths (ingest, fold, reads). int8 comes back as a string: codecs decide. */
export function pool(): pg.Pool {
  return singleton('pool', () => {
    const created = new pg.Pool({ connectionString: env().DATABASE_URL, max: 10, connectionTimeoutMillis: 5_000 });
    created.on('error', () => {}); // an idle connection died with the database; the next query reports it
    // One in use that dies between two statements must not end the process: the next statement reports it
    created.on('connect', (client) => client.on('error', () => {}));
    return created;
  });
}
