import { setTimeout as sleep } from 'node:timers/promises';
import { attributeTrace } from '../core/trace/attributeTrace';
import { runAssembly } from '../ingest/assembly/assemble';
import { log } from '../platform/log';
import { changeZones } from '../rollup/changeZones';
import { correctWithin } from '../rollup/correct';
import { foldPending } from '../rollup/foldPending';
import { guessClasses } from '../rollup/guessClasses';
import { applyRetention, keepPartitions } from '../rollup/keepPartitions';
import { pinProbeTrips } from '../rollup/pinProbeTrips';
import { pinQueueFloors } from '../rollup/pinQueueFloors';
import { repairCells } from '../rollup/repair';
import { sealDue } from '../rollup/seal';

const IDLE_MS = 300;
/** A fold of few requests costs nearly as much as one of many: what comes meanwhile shares the next one. */
const BUSY_MS = 1_000;
/** After so many requests there is enough for the next fold already. */
const MANY_REQUESTS = 100_000;
const LONGEST_BACK_OFF_MS = 10_000;

/** `run` may say `true`: there is more, come back after the next fold. */
type Job = { name: string; everyMs: number; run: (nowMs: number) => Promise<unknown> };

const sealStep = async (nowMs: number) => (await sealDue(nowMs)).requests > 0;

const JOBS: readonly Job[] = [
  { name: 'partitions', everyMs: 3_600_000, run: keepPartitions },
  { name: 'retention', everyMs: 3_600_000, run: applyRetention },
  { name: 'seal', everyMs: 15_000, run: sealStep },
  { name: 'time zone', everyMs: 2_000, run: changeZones },
  { name: 'repair', everyMs: 5_000, run: repairCells },
  { name: 'queue floors', everyMs: 3_600_000, run: pinQueueFloors },
  { name: 'probe round trips', everyMs: 3_600_000, run: pinProbeTrips },
  { name: 'endpoint classes', everyMs: 86_400_000, run: guessClasses },
];
const JOB_RETRY_MS = 60_000;

/** Runs what is due and notes when each is due again; a job that fails is logged and never stops the fold. */
async function runDue(due: Map<string, number>, nowMs: number): Promise<void> {
  for (const job of JOBS) {
    if ((due.get(job.name) ?? 0) > nowMs) continue;
    try {
      const hasMore = (await job.run(nowMs)) === true;
      due.set(job.name, hasMore ? nowMs : nowMs + job.everyMs);
    } catch (error) {
      due.set(job.name, nowMs + JOB_RETRY_MS);
      log().error({ err: error, job: job.name }, 'job failed, trying again in a minute');
    }
  }
}

/** Runs the background work until `signal` aborts; a database that is away is waited for. */
export async function runWorker({ signal }: { signal: AbortSignal }): Promise<void> {
  await Promise.all([runFold(signal), runAssembly({ signal, attribute: attributeTrace, correct: correctWithin })]);
}

async function runFold(signal: AbortSignal): Promise<void> {
  const due = new Map<string, number>();
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs = IDLE_MS;
    try {
      const { chunks, requests } = await foldPending();
      if (chunks > 0) pauseMs = requests < MANY_REQUESTS ? BUSY_MS : 0;
      failures = 0;
      await runDue(due, Date.now());
    } catch (error) {
      failures += 1;
      pauseMs = Math.min(LONGEST_BACK_OFF_MS, IDLE_MS * 2 ** Math.min(failures, 6));
      log().error({ err: error, pauseMs }, 'fold failed, trying again');
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
