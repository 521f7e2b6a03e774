#!/usr/bin/env node
// npm run build: ORM client → dashboard (`next build`) → entry points (esbuild, bin/*.ts → dist/bin/*.mjs).
// Skips what is fresh: dist/.hash holds the digest of everything that goes in.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const marker = path.join(root, 'dist/.hash');
const SOURCES = [
  'app',
  'lib',
  'bin',
  'data',
  'public',
  'prisma/schema.prisma',
  'next.config.js',
  'postcss.config.mjs',
].concat(['package.json', 'package-lock.json', 'tsconfig.json']);
const DERIVED = path.join(root, 'lib/db/generated');

function filesUnder(target) {
  if (!fs.existsSync(target) || target === DERIVED) return [];
  if (fs.statSync(target).isFile()) return [target];
  return fs
    .readdirSync(target)
    .sort()
    .flatMap((name) => filesUnder(path.join(target, name)));
}

function sourceHash() {
  const hash = createHash('sha256').update(process.version);
  for (const file of SOURCES.flatMap((source) => filesUnder(path.join(root, source)))) {
    hash.update(`\0${path.relative(root, file)}\0`).update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

const isFresh = (hash) =>
  fs.existsSync(marker) && fs.readFileSync(marker, 'utf8') === hash && fs.existsSync(path.join(root, '.next/BUILD_ID'));

function run(script, args) {
  const ran = spawnSync(process.execPath, [path.join(root, script), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  });
  if (ran.status !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${ran.stdout}\n${ran.stderr}`);
}

/** Bundles the entry points; packages stay imports, so native and wasm parts are found where npm put them. */
async function bundleEntries() {
  const { build } = await import('esbuild');
  const entries = fs
    .readdirSync(path.join(root, 'bin'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.mts'));
  await build({
    entryPoints: entries.map((name) => path.join(root, 'bin', name)),
    outdir: path.join(root, 'dist/bin'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    // `server-only` throws outside Next
    plugins: [
      {
        name: 'server-only',
        setup(bundle) {
          bundle.onResolve({ filter: /^server-only$/ }, () => ({ path: 'server-only', namespace: 'empty' }));
          bundle.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '' }));
        },
      },
    ],
    logLevel: 'error',
  });
}

/** One build at a time in this folder; a lock whose process is gone counts for nothing. */
async function withBuildLock(work) {
  const lock = path.join(root, '.isochrone-build.lock');
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    let holder = 0;
    try {
      holder = Number(fs.readFileSync(lock, 'utf8'));
      if (holder > 0) process.kill(holder, 0);
    } catch (error) {
      if (error.code === 'ESRCH') fs.rmSync(lock, { force: true });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/** Builds whatever changed since the last build. `dashboard: false` leaves `next build` out (development). */
export async function buildIfStale(say, { dashboard = true } = {}) {
  await withBuildLock(async () => {
    const hash = sourceHash();
    if (dashboard && isFresh(hash)) return;
    fs.rmSync(marker, { force: true });
    run('bin/generate.mjs', []);
    if (dashboard) {
      say('building the dashboard (once after a change; about half a minute)');
      run('node_modules/next/dist/bin/next', ['build']);
    }
    say('building the server');
    await bundleEntries();
    if (dashboard) fs.writeFileSync(marker, hash);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildIfStale((line) => console.log(line)).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
