// What benchmarks of the running system stand on: a fresh durable Postgres, the built entry points, one project with a key.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { buildIfStale } from '../../bin/build.mjs';
import { freePort, startEmbeddedPostgres } from '../../bin/embeddedPostgres.mjs';
import { hashKey } from '../../lib/auth/keys';
import { migrate } from '../../lib/db/migrate';

export type Testbed = {
  url: string;
  adminUrl: string;
  /** The postmaster. */
  postgresPid: number;
  projectId: string;
  key: string;
  /** What the processes are started with. */
  environment: Record<string, string>;
  /** One connection of the bench itself. */
  client: pg.Client;
  /** Starts dist/bin/<name>.mjs and waits until it answers; `port` null for processes without one. */
  run(name: 'ingest' | 'worker'): Promise<{ child: ChildProcess; port: number }>;
  stop(): Promise<void>;
};

/** Starts everything; call `stop` whatever happens. */
export async function startTestbed(): Promise<Testbed> {
  await buildIfStale(() => {}, { dashboard: false });
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'isochrone-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  await migrate({ connectionString: postgres.url });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const [projectId, key] = [randomUUID(), `bench_${randomBytes(24).toString('hex')}`];
  await client.query(`INSERT INTO project (id, slug, name, time_zone) VALUES ($1, 'bench', 'bench', 'UTC')`, [
    projectId,
  ]);
  await client.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES ($1, $2, 'bench', 'ingest', $3, 'bench', '{}')`,
    [randomUUID(), projectId, hashKey(key)],
  );
  const environment = {
    DATABASE_URL: postgres.url,
    ISOCHRONE_SECRET: 'a secret for benchmarks of 32 characters',
    NODE_ENV: 'production' as const,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    // the traffic has 11,520 series
    SERIES_A_DAY: '20000',
  };
  const children: ChildProcess[] = [];
  const run: Testbed['run'] = async (name) => {
    const port = await freePort(0);
    const profile = process.env.BENCH_PROFILE?.split(',').includes(name);
    const flags = ['--enable-source-maps', ...(profile ? ['--cpu-prof', `--cpu-prof-name=${name}.cpuprofile`] : [])];
    const child = spawn(process.execPath, [...flags, `dist/bin/${name}.mjs`], {
      env: { ...process.env, ...environment, PORT: String(port) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'], // they end when we are gone
    });
    children.push(child);
    if (name === 'ingest') await untilListening(port);
    return { child, port };
  };
  const stop = async () => {
    await Promise.all(children.map(stopChild));
    await client.end().catch(() => {});
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    url: postgres.url,
    adminUrl: postgres.adminUrl,
    postgresPid: postgres.pid,
    environment,
    projectId,
    key,
    client,
    run,
    stop,
  };
}

/** Resolves when something answers HTTP there. */
export async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (answer) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers on port ${port}`);
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Resident memory of a process (MiB) now, and the highest it ever had. Linux only, else null. */
export function residentMiB(pid: number): { now: number; highest: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
    return { now: of('VmRSS'), highest: of('VmHWM') };
  } catch {
    return null;
  }
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** CPU seconds that a process, and with `children` its living children, have used. Linux only, else null. */
export function cpuSeconds(pid: number, options: { children?: boolean } = {}): number | null {
  try {
    const of = (one: string) => {
      const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const ticks = Number(fields[11]) + Number(fields[12]);
      return {
        parent: Number(fields[1]),
        seconds: ticks / 100,
        ended: (Number(fields[13]) + Number(fields[14])) / 100,
      };
    };
    const own = of(String(pid));
    if (!options.children) return own.seconds;
    const children = readdirSync('/proc').flatMap((name) => {
      try {
        return /^\d+$/.test(name) && of(name).parent === pid ? [of(name).seconds] : [];
      } catch {
        return [];
      }
    });
    return children.reduce((sum, s) => sum + s, own.seconds + own.ended);
  } catch {
    return null;
  }
}
