// npm start on a fresh data folder, and again after kill -9 of each of its processes. One story, in order.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildIfStale } from '../bin/build.mjs';
import { createTestDatabase } from './support/database';
import { INITIAL } from './support/server';

interface Started {
  process: ChildProcess;
  url: string;
  tookMs: number;
}

const parent = mkdtempSync(path.join(os.tmpdir(), 'isochrone-start-')); // 0700, as root's home is
const dataDir = path.join(parent, 'data');
const running = new Set<ChildProcess>();

async function start(env: Record<string, string> = {}): Promise<Started> {
  const { DATABASE_URL: _url, ISOCHRONE_SECRET: _secret, NODE_ENV: _mode, ...rest } = process.env;
  const begun = Date.now();
  const child = spawn(process.execPath, ['bin/start.mjs'], {
    env: { ...rest, ...INITIAL, DATA_DIR: dataDir, PORT: '0', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    const onText = (text: Buffer) => {
      said += text;
      const match = /Isochrone is at (\S+)/.exec(said);
      if (match?.[1]) resolve(match[1]);
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    child.once('exit', (code) => {
      running.delete(child);
      reject(new Error(`npm start ended with ${code}:\n${said}`));
    });
  });
  return { process: child, url, tookMs: Date.now() - begun };
}

async function stop(started: Started): Promise<number> {
  const begun = Date.now();
  const ended = once(started.process, 'exit');
  started.process.kill('SIGTERM');
  await ended;
  return Date.now() - begun;
}

const run = (): { children: number[] } => JSON.parse(readFileSync(path.join(dataDir, 'run.json'), 'utf8'));

/** Where the database folder really is: elsewhere when `nobody` cannot enter the data folder. */
function databaseFolder(): string {
  const pointer = path.join(dataDir, 'postgres-location');
  return path.join(existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : dataDir, 'postgres');
}

function databaseProcesses(): number[] {
  const folder = realpathSync(databaseFolder());
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const postmaster = () => Number(readFileSync(path.join(databaseFolder(), 'postmaster.pid'), 'utf8').split('\n')[0]);

async function isServing(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(20_000) })).ok;
  } catch {
    return false;
  }
}

describe.runIf(process.platform === 'linux')('npm start', () => {
  beforeAll(() => buildIfStale(() => {}), 300_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGTERM');
    await Promise.all([...running].map((child) => once(child, 'exit')));
    const folder = path.dirname(databaseFolder());
    rmSync(parent, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  });

  it('names ISOCHRONE_SECRET when it is missing beside an external database', async () => {
    await expect(start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })).rejects.toThrow(
      /ISOCHRONE_SECRET is not set/,
    );
  });

  it('serves on a fresh folder, keeps its secrets to itself, and stops within 10 s', async () => {
    const first = await start();
    expect(await isServing(first.url)).toBe(true);
    expect(statSync(path.join(dataDir, 'secrets.json')).mode & 0o077).toBe(0);
    await expect(start()).rejects.toThrow(/already runs/);
    expect(await stop(first)).toBeLessThan(10_000);
    expect(databaseProcesses()).toEqual([]);
  });

  it('uses an external database when DATABASE_URL names one', async () => {
    const database = await createTestDatabase();
    const secret = 'a secret of an installation, 32 characters or more';
    const started = await start({ DATABASE_URL: database.url, ISOCHRONE_SECRET: secret });
    expect(await isServing(started.url)).toBe(true);
    expect(databaseProcesses()).toEqual([]);
    expect(await database.query('SELECT email FROM app_user')).toEqual([{ email: INITIAL.ISOCHRONE_INIT_EMAIL }]);
    await stop(started);
    await database.drop();
  });

  it('starts again in seconds', async () => {
    const second = await start();
    expect(second.tookMs).toBeLessThan(10_000);
    await stop(second);
  });

  it.each(['server', 'worker', 'postgres'] as const)('brings the %s back while it runs', async (victim) => {
    const started = await start();
    const before = { children: run().children, postmaster: postmaster() };
    const pid = { server: before.children[0], worker: before.children[1], postgres: before.postmaster }[victim];
    process.kill(pid as number, 'SIGKILL');
    const isBack = async () => {
      const isNew = victim === 'postgres' ? postmaster() !== pid : !run().children.includes(pid as number);
      return isNew && (await isServing(started.url));
    };
    await expect.poll(isBack, { timeout: 20_000, interval: 100 }).toBe(true);
    await stop(started);
  });

  it('serves at the next start after all of it was killed at once', async () => {
    const started = await start();
    const ended = once(started.process, 'exit');
    for (const pid of [started.process.pid as number, ...run().children]) process.kill(pid, 'SIGKILL');
    await ended;
    expect(databaseProcesses().length).toBeGreaterThan(0);
    const next = await start();
    expect(await isServing(next.url)).toBe(true);
    process.kill(postmaster(), 'SIGKILL');
    process.kill(next.process.pid as number, 'SIGKILL');
    await once(next.process, 'exit');
    const last = await start();
    expect(await isServing(last.url)).toBe(true);
    await stop(last);
  });
});
