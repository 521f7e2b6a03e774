import { Calendar } from '../core/calendar';
import { type EncodedPart, foldEncoded } from '../core/fold';
import { decodeChunk } from '../db/chunk';
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
  seriesOf,
} from '../db/pendingChunks';
import { compactParts, insertParts } from '../db/rollupStore';
import { isolateBadRows } from './isolate';

/** The larger a batch, the less a request costs: cells are written once a batch, however many requests they have. */
const CHUNKS_A_BATCH = 2_000;
/** A batch is folded in memory, about 1 kB a request. */
const REQUESTS_A_BATCH = 150_000;

export type Folded = { chunks: number; requests: number };

/** The data cannot be folded: trying again cannot help, unlike with a database that is away. */
class UnfoldableError extends Error {
  constructor(cause: unknown) {
    super(`chunk cannot be folded: ${String(cause)}`, { cause });
    this.name = 'UnfoldableError';
  }
}

function orUnfoldable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UnfoldableError(error);
  }
}

/** SQLSTATE classes 22 and 54 are the data's fault; whatever else the database says may pass later. */
function classify(error: unknown): unknown {
  const { code = '' } = error as { code?: string };
  return /^(22|54)/.test(code) ? new UnfoldableError(error) : error;
}

type Batch = { projectId: string; limit: number; taken: ChunkId[] };

async function foldBatch(batch: Batch): Promise<Folded> {
  return inTransaction(async (client) => {
    if (!(await lockFold(client, batch.projectId, { wait: false }))) return { chunks: 0, requests: 0 };
    batch.taken = await pendingIds(client, batch.projectId, {
      chunks: batch.limit,
      requests: REQUESTS_A_BATCH,
    });
    if (batch.taken.length === 0) return { chunks: 0, requests: 0 };
    const rows = (await readChunks(client, batch.projectId, batch.taken)).map((chunk) => chunk.row);
    const series = await seriesOf(batch.projectId, rows);
    const calendar = new Calendar(await projectZone(client, batch.projectId));
    const requests = orUnfoldable(() => rows.flatMap((row) => decodeChunk(row, series)));
    const parts: EncodedPart[] = orUnfoldable(() => foldEncoded(requests, { calendar }));
    await insertParts(client, batch.projectId, { parts, level: 0 }).catch((error: unknown) => {
      throw classify(error);
    });
    await deletePending(client, batch.projectId, batch.taken);
    await compactParts(client, batch.projectId, parts);
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
      if (id === undefined || !(error instanceof UnfoldableError)) throw error;
      const failed = await countFailure(projectId, id);
      if (failed === 'exhausted') await isolateBadRows(projectId, { id, reason: error.message, pending: true });
    }
  }
  return folded;
}

async function foldProject(projectId: string, limit: number): Promise<Folded> {
  const batch: Batch = { projectId, limit, taken: [] };
  return foldBatch(batch).catch((error: unknown) => {
    if (!(error instanceof UnfoldableError)) throw error;
    return foldOneByOne(projectId, batch.taken.length);
  });
}

/** After so many projects in a row the fault is not theirs: the database is away. */
const FAILURES_IN_A_ROW = 3;

/**
 * Folds what is pending: each chunk exactly once, in the transaction that removes it from `pending`. Workers side by side
 * take different projects. Of a chunk that fails three times the bad rows go to `quarantine`; a project that fails holds no other up.
 * Throws the first failure that is not a chunk's, after the other projects had their turn.
 */
export async function foldPending({ limit = CHUNKS_A_BATCH }: { limit?: number } = {}): Promise<Folded> {
  const total = { chunks: 0, requests: 0 };
  const failures: unknown[] = [];
  let inARow = 0;
  for (const projectId of await projectsWithPending()) {
    try {
      const folded = await foldProject(projectId, limit);
      total.chunks += folded.chunks;
      total.requests += folded.requests;
      inARow = 0;
    } catch (error) {
      failures.push(error);
      inARow += 1;
      if (inARow >= FAILURES_IN_A_ROW) break;
    }
  }
  if (failures.length > 0) throw failures[0];
  return total;
}
