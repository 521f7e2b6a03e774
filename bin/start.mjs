#!/usr/bin/env node
// npm start: from a bare clone to a running Isochrone, saying what it does. Node built-ins only until packages are there.
//   install if needed → build if stale → Postgres (embedded, or DATABASE_URL) → migrate → server and worker, supervised
// `npm start demo` fills the running instance with the demonstration project; `--dev` serves the pages from source.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { buildIfStale } from './build.mjs';
import { keptSecrets, startEmbeddedPostgres } from './embeddedPostgres.mjs';
import { installIfNeeded } from './install.mjs';
import { dropRun, isProcess, readRun, takeRun, writeRun } from './runLock.mjs';
import { createBackOff, keepRunning } from './supervisor.mjs';

const root = path.resolve(import.meta.dirname, '..');
const CHILD_GRACE_MS = 6_000;
const POSTGRES_GRACE_MS = 2_500;
const startedAt = Date.now();
const say = (line) => console.log(`[isochrone] ${line}`);

process.chdir(root);
if (fs.existsSync('.env')) process.loadEnvFile('.env');
const dataDir = path.resolve(process.env.DATA_DIR || '.isochrone');
const isDev = process.argv.includes('--dev');

if (process.argv.includes('demo')) runDemo();
else await start().catch((error) => fail(error));

function fail(error) {
  console.error(`[isochrone] ${error.message}`);
  process.exitCode = 1;
}

async function start() {
  const external = process.env.DATABASE_URL || null;
  if (external && !process.env.ISOCHRONE_SECRET)
    throw new Error(
      'ISOCHRONE_SECRET is not set. With your own DATABASE_URL, set ISOCHRONE_SECRET to at least 32 random characters ' +
        '(openssl rand -hex 32) and keep it: it signs the sessions.',
    );
  await takeRun(dataDir, say);
  const state = { stopping: false, postgres: null, children: [], url: external };
  const stop = (reason, code) => stopAll(state, reason, code);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(`stopping (${signal})`, 0));
  try {
    installIfNeeded(say);
    await buildIfStale(say, { dashboard: !isDev });
    if (state.stopping) return;
    if (!external) await bringUpPostgres(state);
    if (state.stopping) return await state.postgres?.stop(POSTGRES_GRACE_MS);
    migrate(state);
    runChildren(state, stop);
  } catch (error) {
    console.error(`[isochrone] ${error.message}`);
    await stop('stopping, because the start failed', 1);
  }
}

/** What server, worker and the other entry points get as their environment. */
function environment(state) {
  return {
    ...process.env,
    NODE_ENV: isDev ? 'development' : 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    DATABASE_URL: state.url,
    ISOCHRONE_SECRET: process.env.ISOCHRONE_SECRET || keptSecrets(dataDir).isochroneSecret,
  };
}

async function bringUpPostgres(state) {
  say('starting the embedded Postgres');
  state.postgres = await startEmbeddedPostgres({ dataDir, say });
  state.url = state.postgres.url;
  supervisePostgres(state, createBackOff());
}

/** Starts Postgres again when it goes away (killed, or a full disk made it panic); data recovers from its log. */
function supervisePostgres(state, backOff) {
  const since = Date.now();
  state.postgres.exited.then(async () => {
    let livedMs = Date.now() - since;
    while (!state.stopping) {
      const pauseMs = backOff.next(livedMs);
      say(`Postgres ended; starting it again in ${pauseMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (state.stopping) return;
      livedMs = 0;
      try {
        const before = state.url;
        state.postgres = await startEmbeddedPostgres({ dataDir, say });
        state.url = state.postgres.url;
        if (state.stopping) return void (await state.postgres.stop(POSTGRES_GRACE_MS));
        if (state.url !== before) for (const child of state.children) child.restart();
        say('Postgres is back');
        return supervisePostgres(state, backOff);
      } catch (error) {
        say(error.message);
      }
    }
  });
}

function migrate(state) {
  const ran = spawnSync(process.execPath, ['dist/bin/migrate.mjs'], { env: environment(state), encoding: 'utf8' });
  if (ran.status !== 0)
    throw new Error(`The database could not be brought up to date: ${(ran.stderr || ran.stdout).trim()}`);
  if (ran.stdout.trim() !== '') say(ran.stdout.trim());
}

function runChildren(state, stop) {
  const run = { pid: process.pid, children: [], url: null, port: null };
  const pids = new Map();
  const remember = (name) => (pid) => {
    pids.set(name, pid);
    run.children = [...pids.values()];
    writeRun(dataDir, run);
  };
  const onMessage = (message) => {
    if (message?.kind !== 'listening') return;
    const isFirst = run.url === null;
    Object.assign(run, { url: message.url, port: message.port });
    writeRun(dataDir, run);
    if (!isFirst) return say(`serving again at ${message.url}`);
    say(`ready in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
    say(`Isochrone is at ${message.url}`);
    if (message.setupUrl) say(`Create the owner once, with this link: ${message.setupUrl}`);
    say('Ctrl-C stops it.');
  };
  const onGiveUp = () => stop('stopping, for the reason above', 1);
  for (const name of ['server', 'worker'])
    state.children.push(
      keepRunning({
        name,
        script: path.join(root, `dist/bin/${name}.mjs`),
        // a restarted server keeps the port that people have in their address bar
        environment: () => ({ ...environment(state), ...(run.port === null ? {} : { PORT: String(run.port) }) }),
        say,
        onMessage,
        onSpawn: remember(name),
        onGiveUp,
      }),
    );
}

/** Children first, so that what they are writing gets its COMMIT; then the database. Within 10 seconds. */
async function stopAll(state, reason, code) {
  if (state.stopping) return;
  state.stopping = true;
  say(reason);
  await Promise.all(state.children.map((child) => child.stop(CHILD_GRACE_MS)));
  await state.postgres?.stop(POSTGRES_GRACE_MS);
  dropRun(dataDir);
  say('stopped');
  process.exit(code);
}

function runDemo() {
  const run = readRun(dataDir);
  if (run === null || !run.url || !isProcess(run.pid, 'start.mjs'))
    return fail(new Error(`No Isochrone runs on ${dataDir}. Run \`npm start\` first, then this in a second terminal.`));
  const { ownerPassword, postgresPort } = process.env.DATABASE_URL ? {} : keptSecrets(dataDir);
  const url = process.env.DATABASE_URL || `postgres://isochrone:${ownerPassword}@127.0.0.1:${postgresPort}/isochrone`;
  const args = process.argv.slice(process.argv.indexOf('demo') + 1);
  const ran = spawnSync(process.execPath, ['--enable-source-maps', 'dist/bin/demo.mjs', ...args], {
    env: { ...environment({ url }), PORT: String(run.port) },
    stdio: 'inherit',
  });
  process.exitCode = ran.status ?? 1;
}
