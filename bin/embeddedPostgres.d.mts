export interface EmbeddedPostgres {
  port: number;
  /** Superuser connection to the database `postgres`. */
  adminUrl: string;
  /** The owner of the database `isochrone`, not a superuser. */
  url: string;
  pid: number;
  /** Resolves when the postmaster is gone. */
  exited: Promise<void>;
  /** Fast shutdown; kills after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}
/** Starts Postgres from the npm binaries on `dataDir`, as root too. Throws an error that holds Postgres' own words. */
export function startEmbeddedPostgres(options: {
  dataDir: string;
  say?: (line: string) => void;
  /** `name=value` settings on top of the defaults. */
  settings?: string[];
}): Promise<EmbeddedPostgres>;
/** `preferred` when nobody listens there, else a port that the system picks. */
export function freePort(preferred: number): Promise<number>;
