// What is kept: partitions made ahead, dropped on schedule; roll-ups by tier; a project may keep less than the others.

import { HOUR_SAMPLE_DAYS } from '../core/sample';
import {
  dropLeftOvers,
  dropPartition,
  hasRecentPosts,
  listPartitions,
  type Partition,
  shrinkSealedDays,
} from '../db/dropPartitions';
import { addDays, daysAhead, ensurePartitions, utcDay } from '../db/partitions';
import { allRetentions, deleteRawBefore, deleteRollupsBefore, type Retention } from '../db/retention';
import { deleteSpanStateBefore } from '../db/spanStore';
import { log } from '../platform/log';

const DAY_S = 86_400;
const SPAN_DAYS = 8;
const RAW_TABLES: readonly string[] = ['hot_chunk', 'sealed_chunk'];
const SPAN_TABLES: readonly string[] = ['span_chunk', 'assembled_trace'];

/** Makes the partitions of the days around `nowMs`, so that no flush has to. */
export async function keepPartitions(nowMs: number): Promise<void> {
  await ensurePartitions(daysAhead(nowMs));
}

/** The longest that any project keeps raw requests (days). */
const longestRaw = (retentions: Iterable<Retention>) =>
  [...retentions].reduce((most, retention) => Math.max(most, retention.rawDays), 0);

async function isDue(partition: Partition, { today, rawDays }: { today: string; rawDays: number }): Promise<boolean> {
  if (RAW_TABLES.includes(partition.table)) return partition.day < addDays(today, -rawDays);
  if (partition.table === 'ledger') return partition.day < addDays(today, -1) && !(await hasRecentPosts(partition));
  if (SPAN_TABLES.includes(partition.table)) return partition.day < addDays(today, -SPAN_DAYS);
  return partition.day < addDays(today, -rawDays);
}

/** A post that came into the ledger while its partition was on its way out is kept. */
async function rescuePosts(client: { query(sql: string): Promise<unknown> }, detached: string): Promise<void> {
  const recent = `FROM ${detached} WHERE received_at > now() - interval '24 hours'`;
  await client.query(`INSERT INTO ledger SELECT * ${recent} ON CONFLICT DO NOTHING`).catch((error: unknown) => {
    // 23514: nobody has needed a new partition since, so there is nothing to rescue it into
    if ((error as { code?: string }).code !== '23514') throw error;
  });
}

/** Drops the partitions that nobody keeps any more. Those in use stay for the next time. */
export async function dropOldPartitions(nowMs: number): Promise<string[]> {
  const today = utcDay(nowMs * 1_000);
  const rawDays = longestRaw((await allRetentions()).values());
  const dropped: string[] = [];
  if (rawDays === 0) return dropped; // no project yet
  await dropLeftOvers();
  for (const partition of await listPartitions()) {
    if (!(await isDue(partition, { today, rawDays }))) continue;
    const rescue = partition.table === 'ledger' ? rescuePosts : undefined;
    if (await dropPartition(partition, rescue)) dropped.push(partition.name);
    else log().info({ partition: partition.name }, 'partition is in use; trying again later');
  }
  return dropped;
}

/** Removes what each project does not keep any more, then the partitions that are left empty by it. */
export async function applyRetention(nowMs: number): Promise<void> {
  const today = utcDay(nowMs * 1_000);
  const nowS = nowMs / 1_000;
  for (const [projectId, retention] of await allRetentions()) {
    await deleteRawBefore(projectId, addDays(today, -retention.rawDays));
    const tiers = { '5min': retention.fiveMinuteDays, hour: retention.hourDays, day: retention.dayDays } as const;
    for (const tier of ['5min', 'hour', 'day'] as const) {
      await deleteRollupsBefore(projectId, { tier, beforeS: nowS - tiers[tier] * DAY_S });
    }
    // A day more than is read: a question asked now must not find them gone
    const beforeS = nowS - (HOUR_SAMPLE_DAYS + 1) * DAY_S;
    await deleteRollupsBefore(projectId, { tier: 'hour', beforeS, families: ['sampleE2e', 'sampleTtft'] });
  }
  await dropOldPartitions(nowMs);
  await deleteSpanStateBefore(addDays(today, -SPAN_DAYS));
  await shrinkSealedDays(nowMs);
}
