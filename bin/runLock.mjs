// One running Isochrone a data folder: DATA_DIR/run.json says which process, where it listens, and its children.
import fs from 'node:fs';
import path from 'node:path';

const file = (dataDir) => path.join(dataDir, 'run.json');

/** What run.json says, when it says anything readable. */
export function readRun(dataDir) {
  try {
    return JSON.parse(fs.readFileSync(file(dataDir), 'utf8'));
  } catch {
    return null;
  }
}

/** True when `pid` is a live process whose command line holds `word` (elsewhere than on Linux: just alive). */
export function isProcess(pid, word) {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
  } catch {
    return process.platform !== 'linux';
  }
}

export function writeRun(dataDir, run) {
  const partial = `${file(dataDir)}.${process.pid}`;
  fs.writeFileSync(partial, `${JSON.stringify(run)}\n`, { mode: 0o600 });
  fs.renameSync(partial, file(dataDir));
}

/**
 * Takes the data folder for this process. Throws when another start holds it; ends the server and worker of a start
 * that was killed, so that its port is free again.
 */
export async function takeRun(dataDir, say) {
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const own = `${file(dataDir)}.${process.pid}`;
  for (;;) {
    fs.writeFileSync(own, `${JSON.stringify({ pid: process.pid, children: [] })}\n`, { mode: 0o600 });
    try {
      fs.linkSync(own, file(dataDir)); // atomic: fails when the file is there
      fs.rmSync(own);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const left = readRun(dataDir);
    if (left !== null && isProcess(left.pid, 'start.mjs')) {
      fs.rmSync(own, { force: true });
      throw new Error(
        `Isochrone already runs on ${dataDir} (process ${left.pid}${left.url ? `, ${left.url}` : ''}). ` +
          'Stop it first, or give this one another DATA_DIR.',
      );
    }
    await endChildren(left?.children ?? [], say);
    dropStale(dataDir, left);
  }
}

/** Removes a stale run.json, but puts it back when another start replaced it in between. */
function dropStale(dataDir, expected) {
  const aside = `${file(dataDir)}.stale.${process.pid}`;
  try {
    fs.renameSync(file(dataDir), aside);
  } catch {
    return;
  }
  const moved = JSON.parse(fs.readFileSync(aside, 'utf8') || 'null');
  if (moved !== null && moved.pid !== expected?.pid) fs.renameSync(aside, file(dataDir));
  else fs.rmSync(aside, { force: true });
}

async function endChildren(pids, say) {
  const living = () => pids.filter((pid) => isProcess(pid, 'dist/bin/'));
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    const targets = living();
    if (targets.length === 0) return;
    say(`ending ${targets.length} processes of an earlier start that was killed`);
    for (const pid of targets) process.kill(pid, signal);
    for (let waited = 0; living().length > 0 && waited < 5_000; waited += 50)
      await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function dropRun(dataDir) {
  if (readRun(dataDir)?.pid === process.pid) fs.rmSync(file(dataDir), { force: true });
}
