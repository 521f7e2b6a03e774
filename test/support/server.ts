import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { buildIfStale } from '../../bin/build.mjs';

/** What a server under test is initialised with, unless the test says otherwise. */
export const INITIAL = {
  ISOCHRONE_INIT_EMAIL: 'owner@example.com',
  ISOCHRONE_INIT_PASSWORD: 'correct horse battery staple',
  ISOCHRONE_INIT_PROJECT: 'test',
  ISOCHRONE_INIT_INGEST_KEY: 'ingest-key-for-tests-00000000000000000000',
  ISOCHRONE_INIT_READ_KEY: 'read-key-for-tests-0000000000000000000000',
  ISOCHRONE_INIT_MANAGE_KEY: 'manage-key-for-tests-00000000000000000000',
} as const;

export interface RunningServer {
  /** Without a slash at the end. */
  url: string;
  server: ChildProcess;
  worker: ChildProcess | null;
  /** The one-time link, when nobody can sign in yet. */
  setupUrl: string | null;
  /** What server and worker have printed so far. */
  output(): string;
  /** SIGTERM to both, and waits for them. */
  stop(): Promise<void>;
}

/**
 * The real server and worker, as built, on the database that createTestDatabase() made. `env` is laid over INITIAL
 * (undefined takes a variable out); `worker: false` leaves the worker out, so that nothing is folded.
 */
export async function startServer(
  env: Record<string, string | undefined> = {},
  options: { worker?: boolean } = {},
): Promise<RunningServer> {
  await buildIfStale(() => {});
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    ...INITIAL,
    LOG_LEVEL: 'warn',
    ...env,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '0',
  };
  const said: string[] = [];
  const run = (name: string): ChildProcess => {
    const child = spawn(process.execPath, ['--enable-source-maps', `dist/bin/${name}.mjs`], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => said.push(String(text)));
    return child;
  };
  const server = run('server');
  const listening = await untilListening(server, said);
  const worker = options.worker === false ? null : run('worker');
  return {
    ...listening,
    server,
    worker,
    output: () => said.join(''),
    stop: async () => {
      await Promise.all([server, worker].map((child) => (child === null ? undefined : stopChild(child))));
    },
  };
}

function untilListening(server: ChildProcess, said: string[]): Promise<{ url: string; setupUrl: string | null }> {
  return new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`The server under test ended with ${code}:\n${said.join('')}`)));
    server.on('message', (message: { kind?: string; url: string; setupUrl: string | null }) => {
      if (message.kind === 'listening') resolve({ url: message.url, setupUrl: message.setupUrl });
    });
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}
