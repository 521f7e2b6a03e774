import { daysAhead, ensurePartitions } from '../db/partitions';

/** Makes the partitions of the days around `nowMs`, so that no flush has to. */
export async function keepPartitions(nowMs: number): Promise<void> {
  await ensurePartitions(daysAhead(nowMs));
}
