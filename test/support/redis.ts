import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../bin/embeddedPostgres.mjs';

export type RunningRedis = { port: number; stop(): Promise<void> };

/** A Redis server: what $REDIS_SERVER names, what is installed, else installed now with apt (as root). Throws if none. */
function redisServer(): string {
  const named = process.env.REDIS_SERVER;
  if (named) return named;
  const find = () => {
    try {
      return execFileSync('which', ['redis-server'], { encoding: 'utf8' }).trim();
    } catch {
      return null;
    }
  };
  const installed = find();
  if (installed) return installed;
  if (process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const options = { env, stdio: 'pipe', timeout: 240_000 } as const;
    const apt = (...args: string[]) => execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], options);
    try {
      apt('install', '-y', '--no-install-recommends', 'redis-server');
    } catch {
      apt('update');
      apt('install', '-y', '--no-install-recommends', 'redis-server');
    }
  }
  const now = find();
  if (now) return now;
  throw new Error('This test needs a Redis server: install redis-server, or name one in REDIS_SERVER.');
}

/** A fresh Redis of our own on a free port; nothing of it is kept. */
export async function startRedis(): Promise<RunningRedis> {
  const binary = redisServer();
  const dir = mkdtempSync(path.join(os.tmpdir(), 'isochrone-redis-'));
  const port = await freePort(0);
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const child = spawn(binary, args, { stdio: 'ignore' });
  await untilConnected(port, child);
  return {
    port,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function untilConnected(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    const connected = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (connected) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('redis-server does not answer');
}
