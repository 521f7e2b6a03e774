// A chunk that cannot be folded (or sealed) is bisected: its good rows become a chunk that can, and only the bad ones go
// to quarantine, where the trust page shows them and every rebuild tries them again.

import { Calendar } from '../core/calendar';
import { foldEncoded } from '../core/fold';
import type { Dimensions } from '../core/request';
import { type ChunkRow, decodeChunk } from '../db/chunk';
import {
  type ChunkId,
  deletePending,
  inTransaction,
  lockFold,
  projectZone,
  quarantineChunk,
  readChunks,
  seriesOf,
} from '../db/pendingChunks';
import { deleteHotChunk, insertRawChunk } from '../db/rawStore';
import { encodeRow, sliceChunk } from '../db/sliceChunk';

type Foldable = (row: ChunkRow) => boolean;

function foldableWith(series: ReadonlyMap<string, Dimensions>, calendar: Calendar): Foldable {
  return (row) => {
    try {
      foldEncoded(decodeChunk(row, series), { calendar });
      return true;
    } catch {
      return false;
    }
  };
}

/** The places (from 1) of the rows that cannot be folded, found by halving. */
export function badPositions(row: ChunkRow, isFoldable: Foldable): number[] {
  const search = (positions: readonly number[]): number[] => {
    if (isFoldable(sliceChunk(row, positions))) return [];
    if (positions.length === 1) return [...positions];
    const middle = positions.length >> 1;
    return [...search(positions.slice(0, middle)), ...search(positions.slice(middle))];
  };
  return search(Array.from({ length: row.n }, (_, i) => i + 1));
}

/**
 * Puts what is bad of a chunk into quarantine with the reason. `pending`: its good rows are to be folded yet; otherwise
 * they have been. A chunk whose rows are fine one by one goes as a whole.
 */
export async function isolateBadRows(
  projectId: string,
  { id, reason, pending }: { id: ChunkId; reason: string; pending: boolean },
): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    const [chunk] = await readChunks(client, projectId, [id]);
    if (chunk === undefined) return;
    const { row } = chunk;
    const series = await seriesOf(projectId, [row]);
    const calendar = new Calendar(await projectZone(client, projectId));
    const bad = badPositions(row, foldableWith(series, calendar));
    await deletePending(client, projectId, [id]);
    if (bad.length === 0 || bad.length === row.n) return quarantineChunk(client, projectId, { id, reason });
    const voided = new Set((row.voided ?? []) as number[]);
    const good = Array.from({ length: row.n }, (_, i) => i + 1).filter((p) => !bad.includes(p) && !voided.has(p));
    const receivedAt = await deleteHotChunk(client, projectId, id);
    const insert = (positions: readonly number[], waits: boolean) =>
      insertRawChunk(client, projectId, {
        chunk: encodeRow(sliceChunk(row, positions)),
        ...{ day: id.day, pending: waits, receivedAt },
      });
    if (good.length > 0) await insert(good, pending);
    const chunkId = await insert(bad, false);
    await quarantineChunk(client, projectId, { id: { day: id.day, chunk_id: chunkId }, reason });
  });
}
