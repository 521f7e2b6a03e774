import { Calendar } from '../core/calendar';
import { fold, foldEncoded } from '../core/fold';
import type { TimedRequest } from '../core/request';
import {
  type ChunkId,
  type Client,
  deletePending,
  inTransaction,
  lockFold,
  projectZone,
  rawCoveredFromS,
  replaceQuarantine,
} from '../db/pendingChunks';
import { listAllRaw, type RawHead, readRaw } from '../db/readRaw';
import { deleteMarks } from '../db/repairMarks';
import { compactEverything, deleteParts, insertParts } from '../db/rollupStore';

/** Requests in memory at once. */
const REQUESTS_A_BATCH = 20_000;

const idOf = (head: RawHead): ChunkId => ({ day: head.day, chunk_id: head.chunkId });

/**
 * Replaces the roll-ups and samples of a project by what its raw requests say, in the caller's transaction under the
 * project's lock: all periods for which every raw request is still there. Chunks in quarantine are tried again: what can
 * be folded by now comes back, the rest stays there.
 */
export async function rebuildWithin(client: Client, projectId: string): Promise<void> {
  const calendar = new Calendar(await projectZone(client, projectId));
  const fromS = await rawCoveredFromS(client, projectId);
  const heads = await listAllRaw(client, projectId);
  await deleteParts(client, projectId, fromS);
  await deleteMarks(client, projectId);
  const failed: { id: ChunkId; reason: string }[] = [];
  for (let at = 0; at < heads.length; ) {
    const batch: RawHead[] = [];
    for (let n = 0; at < heads.length && n < REQUESTS_A_BATCH; at++) {
      batch.push(heads[at]!);
      n += heads[at]!.n;
    }
    const requests = await foldable(client, projectId, { batch, calendar, failed });
    const parts = foldEncoded(requests, { calendar, wants: (_, periodS) => periodS >= fromS });
    await insertParts(client, projectId, { parts, level: 0 });
  }
  // Only what was read: each statement sees newer commits, and a chunk that came since must stay pending.
  await deletePending(client, projectId, heads.filter((head) => !head.sealed).map(idOf));
  await replaceQuarantine(client, projectId, failed);
  await compactEverything(client, projectId);
}

async function foldable(
  client: Client,
  projectId: string,
  { batch, calendar, failed }: { batch: RawHead[]; calendar: Calendar; failed: { id: ChunkId; reason: string }[] },
): Promise<TimedRequest[]> {
  const requests: TimedRequest[] = [];
  for (const chunk of await readRaw(client, projectId, { heads: batch })) {
    try {
      if (chunk.rows === null) throw chunk.error;
      const some = chunk.rows.map((row) => row.request);
      if (chunk.head.isQuarantined) fold(some, { calendar });
      for (const request of some) requests.push(request);
    } catch (error) {
      failed.push({ id: idOf(chunk.head), reason: String(error) });
    }
  }
  return requests;
}

/** Rebuilds a project in one transaction. */
export async function rebuildProject(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    await rebuildWithin(client, projectId);
  });
}

/** Merges all parts of a project into their canonical form. */
export async function compactAll(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    await compactEverything(client, projectId);
  });
}
