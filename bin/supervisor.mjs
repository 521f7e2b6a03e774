// Keeps a child process running: restarts it with growing pauses, stops it in order.
import { spawn } from 'node:child_process';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
const HEALTHY_AFTER_MS = 30_000;
/** A child exits with this when a restart cannot help (a taken port, a wrong setting). */
export const GIVE_UP_CODE = 78;

/** The pause before restart number n: doubles from 250 ms to 15 s, and starts over once a run lasted 30 s. */
export function createBackOff() {
  let pauseMs = FIRST_PAUSE_MS;
  return {
    next(livedMs) {
      if (livedMs >= HEALTHY_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      const now = pauseMs;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      return now;
    },
  };
}

/**
 * Runs `node <script>` for good. `environment()` is asked anew at each start. Messages of the child go to onMessage;
 * onSpawn tells the pid; onGiveUp is called when the child says that a restart is of no use.
 */
export function keepRunning({ name, script, environment, say, onMessage = () => {}, onSpawn = () => {}, onGiveUp }) {
  const backOff = createBackOff();
  let child = null;
  let timer = null;
  let stopping = false;
  const start = () => {
    const startedAt = Date.now();
    child = spawn(process.execPath, ['--enable-source-maps', script], {
      env: environment(),
      // the message channel closes when this process dies, also by kill -9: the child then stops by itself
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    onSpawn(child.pid);
    child.on('message', onMessage);
    child.once('exit', (code, signal) => {
      child = null;
      if (stopping) return;
      if (code === GIVE_UP_CODE) return onGiveUp();
      const pauseMs = backOff.next(Date.now() - startedAt);
      say(`the ${name} ended (${signal ?? `code ${code}`}); starting it again in ${pauseMs} ms`);
      timer = setTimeout(start, pauseMs);
    });
  };
  start();
  return {
    pid: () => child?.pid ?? null,
    restart: () => child?.kill('SIGTERM'),
    stop: (graceMs) =>
      new Promise((resolve) => {
        stopping = true;
        clearTimeout(timer);
        if (child === null) return resolve();
        const kill = setTimeout(() => child?.kill('SIGKILL'), graceMs);
        child.once('exit', () => {
          clearTimeout(kill);
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
}
