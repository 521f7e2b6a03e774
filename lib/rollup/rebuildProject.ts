import { Calendar } from '../core/calendar';
import { fold, foldEncoded } from '../core/fold';
import type { TimedRequest } from '../core/request';
import { decodeChunk } from '../db/chunk';
import {
  type ChunkId,
  deletePending,
  inTransaction,
  lockFold,
  projectZone,
  quarantinedIds,
  readChunks,
  replaceQuarantine,
  seriesOf,
} from '../db/pendingChunks';
import { compactEverything, deleteParts, insertParts } from '../db/rollupStore';

/**
 * Replaces all roll-ups and samples of a project by what its raw requests say, in one transaction under its lock. Chunks
 * in quarantine are tried again: what can be folded by now comes back, the rest stays there.
 */
export async function rebuildProject(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    const calendar = new Calendar(await projectZone(client, projectId));
    const suspects = await quarantinedIds(client, projectId);
    const chunks = await readChunks(client, projectId, null);
    const series = await seriesOf(
      projectId,
      chunks.map((chunk) => chunk.row),
    );
    const requests: TimedRequest[] = [];
    const failed: { id: ChunkId; reason: string }[] = [];
    for (const { id, row } of chunks) {
      try {
        const some = decodeChunk(row, series);
        if (suspects.has(id.chunk_id)) fold(some, { calendar });
        for (const request of some) requests.push(request);
      } catch (error) {
        failed.push({ id, reason: String(error) });
      }
    }
    await deleteParts(client, projectId);
    // Only what was read: each statement sees newer commits, and a chunk that came since must stay pending.
    await deletePending(
      client,
      projectId,
      chunks.map((chunk) => chunk.id),
    );
    await replaceQuarantine(client, projectId, failed);
    await insertParts(client, projectId, { parts: foldEncoded(requests, { calendar }), level: 0 });
  });
}

/** Merges all parts of a project into their canonical form. */
export async function compactAll(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    await compactEverything(client, projectId);
  });
}
