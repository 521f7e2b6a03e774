import { Calendar } from '../core/calendar';
import { fold } from '../core/fold';
import {
  type ChunkId,
  countFailure,
  deletePending,
  inTransaction,
  lockFold,
  pendingIds,
  projectsWithPending,
  projectZone,
  readChunks,
} from '../db/pendingChunks';
import { compactParts, insertParts } from '../db/rollupStore';

/** Chunks a batch: at most about half a second under the project's lock. */
const CHUNKS_A_BATCH = 64;

export type Folded = { chunks: number; requests: number };

type Batch = { projectId: string; limit: number; taken: ChunkId[] };

async function foldBatch(batch: Batch): Promise<Folded> {
  return inTransaction(async (client) => {
    if (!(await lockFold(client, batch.projectId, { wait: false }))) return { chunks: 0, requests: 0 };
    batch.taken = await pendingIds(client, batch.projectId, batch.limit);
    if (batch.taken.length === 0) return { chunks: 0, requests: 0 };
    const requests = await readChunks(client, batch.projectId, batch.taken);
    const calendar = new Calendar(await projectZone(client, batch.projectId));
    const parts = fold(requests, { calendar });
    await insertParts(client, batch.projectId, { parts, level: 0 });
    await deletePending(client, batch.projectId, batch.taken);
    await compactParts(client, batch.projectId, new Set(parts.map((part) => part.periodS)));
    return { chunks: batch.taken.length, requests: requests.length };
  });
}

/** Folds one chunk after the other, so that one that cannot be folded does not stop its neighbours. */
async function foldOneByOne(projectId: string, count: number): Promise<Folded> {
  const folded = { chunks: 0, requests: 0 };
  for (let i = 0; i < count; i++) {
    const batch: Batch = { projectId, limit: 1, taken: [] };
    try {
      const one = await foldBatch(batch);
      folded.chunks += one.chunks;
      folded.requests += one.requests;
    } catch (error) {
      const [id] = batch.taken;
      if (id === undefined) throw error;
      await countFailure(projectId, id, String(error));
    }
  }
  return folded;
}

/**
 * Folds what is pending: each chunk exactly once, in the transaction that removes it from `pending`. Workers side by side
 * take different projects. A chunk that fails three times goes to `quarantine`. Throws when the database does not answer.
 */
export async function foldPending({ limit = CHUNKS_A_BATCH }: { limit?: number } = {}): Promise<Folded> {
  const total = { chunks: 0, requests: 0 };
  for (const projectId of await projectsWithPending()) {
    const batch: Batch = { projectId, limit, taken: [] };
    const folded = await foldBatch(batch).catch((error: unknown) => {
      if (batch.taken.length === 0) throw error;
      return foldOneByOne(projectId, batch.taken.length);
    });
    total.chunks += folded.chunks;
    total.requests += folded.requests;
  }
  return total;
}
