import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../platform/log';
import { foldPending } from '../rollup/foldPending';
import { keepPartitions } from '../rollup/keepPartitions';

const IDLE_MS = 300;
const LONGEST_BACK_OFF_MS = 10_000;
const PARTITIONS_EVERY_MS = 3_600_000;

/** Runs the background work until `signal` aborts; a database that is away is waited for. */
export async function runWorker({ signal }: { signal: AbortSignal }): Promise<void> {
  let partitionsAt = 0;
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs = IDLE_MS;
    try {
      const nowMs = Date.now();
      if (nowMs - partitionsAt > PARTITIONS_EVERY_MS) {
        await keepPartitions(nowMs);
        partitionsAt = nowMs;
      }
      const { chunks } = await foldPending();
      if (chunks > 0) pauseMs = 20;
      failures = 0;
    } catch (error) {
      failures += 1;
      pauseMs = Math.min(LONGEST_BACK_OFF_MS, IDLE_MS * 2 ** Math.min(failures, 6));
      log().error({ err: error, pauseMs }, 'fold failed, trying again');
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
