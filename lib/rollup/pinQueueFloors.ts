import { cellName } from '../core/floorInfos';
import { createHistogram, effectiveN, type Histogram, mergeHistogram, quantileUs } from '../core/histogram';
import { TERM_INDEX } from '../core/request';
import { allProjectIds } from '../db/endpointClasses';
import { saveQueueFloors } from '../db/queueFloors';
import { cellOf, withSnapshot } from '../db/snapshot';

const DAYS = 7;
const DAY_MS = 86_400_000;
/** Below this many requests a p10 would be chance; gains then take it from the requests in view. */
const SMALLEST_N = 100;

/**
 * Pins the queue's p10 of every cell of a project for the UTC day of `nowMs`, from the 7 days before it: a floor that
 * does not move with the range in view, nor through the day.
 */
export async function pinQueueFloorsOf(projectId: string, nowMs: number): Promise<void> {
  const toMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const { periods } = await withSnapshot(projectId, (snapshot) =>
    snapshot.read({
      ...{ grouping: 'endpointClientRegion', families: ['terms'], finest: 'day' },
      fromUs: (toMs - DAYS * DAY_MS) * 1_000,
      toUs: toMs * 1_000,
    }),
  );
  const queues = new Map<string, Histogram>();
  for (const { key, set } of periods.get(0) ?? []) {
    if (key.outcome === 'error' || key.cached || typeof key.endpoint !== 'string') continue;
    const { vantage, endpoint, clientRegion = null } = key;
    const name = cellName({ vantage, endpoint, clientRegion });
    const merged = queues.get(name) ?? createHistogram();
    queues.set(name, merged);
    mergeHistogram(merged, cellOf(set, 'terms').histograms[TERM_INDEX.queue]!);
  }
  const floors = [...queues].flatMap(([cell, histogram]) => {
    const p10Us = quantileUs(histogram, 0.1);
    return p10Us === null || effectiveN(histogram) < SMALLEST_N
      ? []
      : [{ cell, p10Us: Math.round(p10Us), n: histogram.n }];
  });
  if (floors.length > 0) await saveQueueFloors(projectId, new Date(toMs).toISOString().slice(0, 10), floors);
}

/** The same for every project. */
export async function pinQueueFloors(nowMs: number): Promise<void> {
  for (const projectId of await allProjectIds()) await pinQueueFloorsOf(projectId, nowMs);
}
