// A system to be broken: its own durable Postgres, two ingest processes and a worker on it, each started again whenever
// it ends, whatever ended it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '../../bin/embeddedPostgres.mjs';
import { hashKey } from '../../lib/auth/keys';
import { migrate } from '../../lib/db/migrate';

export type ProcessName = 'ingestA' | 'ingestB' | 'worker' | 'postgres';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export class FaultBed {
  readonly projectId = randomUUID();
  readonly key = `faults_${randomBytes(24).toString('hex')}`;
  /** Where the two ingest processes listen, over all their lives. */
  ports: number[] = [];
  /** How often each process was started. */
  readonly starts: Record<ProcessName, number> = { ingestA: 0, ingestB: 0, worker: 0, postgres: 0 };
  databaseUrl = '';
  private postgres: EmbeddedPostgres | null = null;
  private readonly children = new Map<ProcessName, ChildProcess>();
  private stopping = false;

  constructor(
    private readonly dataDir: string,
    private readonly settings: string[] = [],
  ) {}

  /** Starts everything; needs dist/bin as built. */
  async start(): Promise<void> {
    await this.startPostgres();
    await migrate({ connectionString: this.databaseUrl });
    await this.query(
      `INSERT INTO project (id, slug, name, time_zone) VALUES ($1, 'faults', 'faults', 'Asia/Kathmandu')`,
      [this.projectId],
    );
    await this.query(
      `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
       VALUES ($1, $2, 'faults', 'ingest', $3, 'faults', '{}')`,
      [randomUUID(), this.projectId, hashKey(this.key)],
    );
    this.ports = [await freePort(0), await freePort(0)];
    this.keep('ingestA', this.ports[0]!);
    this.keep('ingestB', this.ports[1]!);
    this.keep('worker', 0);
    for (const port of this.ports) await listening(port);
  }

  private async startPostgres(): Promise<void> {
    const postgres = await startEmbeddedPostgres({ dataDir: this.dataDir, settings: this.settings });
    this.postgres = postgres;
    this.databaseUrl = postgres.url;
    this.starts.postgres++;
    void postgres.exited.then(() => {
      this.postgres = null;
      return this.revivePostgres();
    });
  }

  private async revivePostgres(): Promise<void> {
    while (!this.stopping) {
      try {
        return await this.startPostgres();
      } catch {
        await sleep(500); // a full disk, for one
      }
    }
  }

  private keep(name: 'ingestA' | 'ingestB' | 'worker', port: number): void {
    if (this.stopping) return;
    this.starts[name]++;
    const child = spawn(process.execPath, [`dist/bin/${name === 'worker' ? 'worker' : 'ingest'}.mjs`], {
      env: {
        ...process.env,
        DATABASE_URL: this.databaseUrl,
        ISOCHRONE_SECRET: 'a secret for fault runs of 32 characters',
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'], // they end when we are gone
    });
    this.children.set(name, child);
    child.once('exit', () => setTimeout(() => this.keep(name, port), 50));
  }

  /** Sends a signal to a process that runs, waiting until it does; it is started again when it ends. */
  async signal(name: ProcessName, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    for (const until = Date.now() + 20_000; Date.now() < until; await sleep(50)) {
      if (name === 'postgres') {
        if (this.postgres === null) continue;
        return killQuietly(this.postgres.pid, signal);
      }
      const child = this.children.get(name);
      if (child?.exitCode === null && child.signalCode === null && child.kill(signal)) return;
    }
    throw new Error(`${name} was not up again within 20 s`);
  }

  /** One statement on a connection of its own. */
  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Resolves when nothing waits for the fold. Throws after `timeoutMs`. */
  async folded(timeoutMs: number): Promise<void> {
    for (const until = Date.now() + timeoutMs; ; ) {
      const rows = await this.query<{ n: string }>('SELECT count(*) AS n FROM pending').catch(() => null);
      if (rows?.[0]?.n === '0') return;
      if (Date.now() > until) throw new Error(`not folded after ${timeoutMs / 1_000} s: ${rows?.[0]?.n} chunks wait`);
      await sleep(200);
    }
  }

  /** Ends the worker for good, so that nothing changes roll-ups any more. */
  async stopWorker(): Promise<void> {
    const child = this.children.get('worker')!;
    child.removeAllListeners('exit');
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await ended;
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    for (const child of this.children.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await this.postgres?.stop();
  }
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)) return;
    await sleep(50);
  }
  throw new Error('bin/ingest does not answer');
}

function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {} // it had just ended
}
