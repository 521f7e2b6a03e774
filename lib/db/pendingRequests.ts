import type { PoolClient } from 'pg';
import type { TimedRequest } from '../core/request';
import { singleton } from '../platform/singleton';
import { CHUNK_COLUMNS, type ChunkRow, openChunk } from './chunk';
import { decodeRows } from './pendingChunks';

/** Requests of decoded chunks that are kept in memory, over all projects. */
const CACHED_REQUESTS = 200_000;

type Cache = { chunks: Map<string, TimedRequest[]>; requests: number };

function keep(id: string, requests: TimedRequest[]): void {
  const cache = singleton('pendingRequests', (): Cache => ({ chunks: new Map(), requests: 0 }));
  for (const [oldest, some] of cache.chunks) {
    if (cache.requests + requests.length <= CACHED_REQUESTS) break;
    cache.chunks.delete(oldest);
    cache.requests -= some.length;
  }
  cache.chunks.set(id, requests);
  cache.requests += requests.length;
}

const cached = (id: string) =>
  singleton('pendingRequests', (): Cache => ({ chunks: new Map(), requests: 0 })).chunks.get(id);

/** What a chunk is cached under: a correction leaves the chunk alone and supersedes some of its rows. */
const nameOf = (chunk: { chunk_id: string; voided: string }) => `${chunk.chunk_id} ${chunk.voided}`;

/** Requests of the chunks that are not folded yet and touch a range (µs, half-open), as the client's transaction sees. */
export async function readPendingRequests(
  client: PoolClient,
  projectId: string,
  range: { fromUs: number; toUs: number },
): Promise<TimedRequest[]> {
  const { rows: waiting } = await client.query<{ day: string; chunk_id: string; voided: string }>(
    `SELECT day::text AS day, chunk_id, (SELECT count(*) FROM superseded x WHERE x.project_id = p.project_id
       AND x.shard_key = p.shard_key AND x.day = p.day AND x.chunk_id = p.chunk_id) AS voided
     FROM pending p WHERE project_id = $1 AND shard_key = 0 AND last_at >= $2 AND first_at < $3`,
    [projectId, range.fromUs, range.toUs],
  );
  const missing = waiting.filter((chunk) => cached(nameOf(chunk)) === undefined);
  const decoded = new Map<string, TimedRequest[]>();
  if (missing.length > 0) {
    const { rows } = await client.query<ChunkRow & { chunk_id: string }>(
      `SELECT chunk_id, ${CHUNK_COLUMNS} FROM hot_chunk
       WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
      [projectId, missing.map((chunk) => chunk.day), missing.map((chunk) => chunk.chunk_id)],
    );
    const names = new Map(missing.map((chunk) => [chunk.chunk_id, nameOf(chunk)]));
    for (const row of rows) {
      const requests = await decodeRows(client, projectId, [openChunk(row)]);
      decoded.set(row.chunk_id, requests);
      keep(names.get(row.chunk_id)!, requests);
    }
  }
  return waiting.flatMap((chunk) => decoded.get(chunk.chunk_id) ?? cached(nameOf(chunk)) ?? []);
}
