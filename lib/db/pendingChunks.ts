// What the fold takes: chunks with a row in `pending`, under the project's lock in `fold_state`.

import type { PoolClient } from 'pg';
import type { Dimensions, TimedRequest } from '../core/request';
import { CHUNK_COLUMNS, type ChunkRow, decodeChunk, openChunk, seriesIdsOf } from './chunk';
import { pool } from './pool';
import { loadSeries } from './series';

export type ChunkId = { day: string; chunk_id: string };

/** A connection within a transaction, for those who may not import pg. */
export type Client = PoolClient;

/** Runs `work` in a transaction that is rolled back when it throws. */
export async function inTransaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

export async function projectsWithPending(): Promise<string[]> {
  const { rows } = await pool().query<{ project_id: string }>('SELECT DISTINCT project_id FROM pending LIMIT 1000');
  return rows.map((row) => row.project_id);
}

/** Takes the project's lock for this transaction; false when another worker holds it and `wait` is not set. */
export async function lockFold(client: PoolClient, projectId: string, options: { wait: boolean }): Promise<boolean> {
  await client.query(
    'INSERT INTO fold_state (project_id, shard_key) VALUES ($1, 0) ON CONFLICT (project_id, shard_key) DO NOTHING',
    [projectId],
  );
  const { rowCount } = await client.query(
    `SELECT config_version FROM fold_state WHERE project_id = $1 AND shard_key = 0
     FOR UPDATE ${options.wait ? '' : 'SKIP LOCKED'}`,
    [projectId],
  );
  return rowCount === 1;
}

/** The project's zone; UTC for a project that is gone. */
export async function projectZone(client: Pick<PoolClient, 'query'>, projectId: string): Promise<string> {
  const { rows } = await client.query<{ time_zone: string }>('SELECT time_zone FROM project WHERE id = $1', [
    projectId,
  ]);
  return rows[0]?.time_zone ?? 'UTC';
}

/** From when on (s since the epoch) every raw request of a project is still there. */
export async function rawCoveredFromS(client: Pick<PoolClient, 'query'>, projectId: string): Promise<number> {
  const { rows } = await client.query<{ from_s: string | null }>(
    `SELECT extract(epoch FROM raw_from::timestamp)::bigint AS from_s FROM fold_state
     WHERE project_id = $1 AND shard_key = 0`,
    [projectId],
  );
  return Number(rows[0]?.from_s ?? Number.NEGATIVE_INFINITY);
}

/** The oldest pending chunks, as many as stay within both limits, at least one. */
export async function pendingIds(
  client: PoolClient,
  projectId: string,
  limits: { chunks: number; requests: number },
): Promise<ChunkId[]> {
  const { rows } = await client.query<ChunkId & { n: number }>(
    `SELECT day::text, chunk_id, n FROM pending WHERE project_id = $1 AND shard_key = 0
     ORDER BY attempts, received_at LIMIT $2`,
    [projectId, limits.chunks],
  );
  let requests = 0;
  const fits = ({ n }: { n: number }) => {
    requests += n;
    return requests <= limits.requests;
  };
  return rows.filter((row, i) => fits(row) || i === 0);
}

export type StoredChunk = { id: ChunkId; row: ChunkRow };

/** Raw chunks as stored, all of the project's when `ids` is null, from one snapshot. */
export async function readChunks(client: PoolClient, projectId: string, ids: ChunkId[] | null): Promise<StoredChunk[]> {
  const { rows } = await client.query<ChunkRow & ChunkId>(
    `SELECT day::text AS day, chunk_id, ${CHUNK_COLUMNS} FROM hot_chunk WHERE project_id = $1 AND shard_key = 0
       AND ($2::date[] IS NULL OR (day = ANY($2) AND chunk_id = ANY($3::uuid[])))`,
    [projectId, ids?.map((id) => id.day) ?? null, ids?.map((id) => id.chunk_id) ?? null],
  );
  return rows.map((row) => ({ id: { day: row.day, chunk_id: row.chunk_id }, row: openChunk(row) }));
}

/** The dimensions that chunks refer to, by series id. */
export async function seriesOf(projectId: string, rows: readonly ChunkRow[]): Promise<Map<string, Dimensions>> {
  return loadSeries(projectId, new Set(rows.flatMap(seriesIdsOf)));
}

/** The requests of chunks; what `client` sees. */
export async function decodeRows(
  client: PoolClient,
  projectId: string,
  rows: readonly ChunkRow[],
): Promise<TimedRequest[]> {
  const series = await loadSeries(projectId, new Set(rows.flatMap(seriesIdsOf)), client);
  return rows.flatMap((row) => decodeChunk(row, series));
}

export async function deletePending(client: PoolClient, projectId: string, ids: ChunkId[]): Promise<void> {
  await client.query(
    `DELETE FROM pending WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, ids.map((id) => id.day), ids.map((id) => id.chunk_id)],
  );
}

/** Which of these chunks (ids) are not in the roll-ups: waiting for the fold, or in quarantine. */
export async function unfoldedAmong(
  client: PoolClient,
  projectId: string,
  chunks: readonly { day: string; chunkId: string }[],
): Promise<Set<string>> {
  const where = 'project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])';
  const { rows } = await client.query<{ chunk_id: string }>(
    `SELECT chunk_id FROM pending WHERE ${where} UNION ALL SELECT chunk_id FROM quarantine WHERE ${where}`,
    [projectId, chunks.map((chunk) => chunk.day), chunks.map((chunk) => chunk.chunkId)],
  );
  return new Set(rows.map((row) => row.chunk_id));
}

/** Makes `failed` the whole quarantine of a project. */
export async function replaceQuarantine(
  client: PoolClient,
  projectId: string,
  failed: readonly { id: ChunkId; reason: string }[],
): Promise<void> {
  await client.query('DELETE FROM quarantine WHERE project_id = $1 AND shard_key = 0', [projectId]);
  await client.query(
    `INSERT INTO quarantine (project_id, shard_key, day, chunk_id, reason, at)
     SELECT $1, 0, d, c, r, now() FROM unnest($2::date[], $3::uuid[], $4::text[]) AS failed(d, c, r)`,
    [
      projectId,
      failed.map((f) => f.id.day),
      failed.map((f) => f.id.chunk_id),
      failed.map((f) => f.reason.slice(0, 500)),
    ],
  );
}

const MOST_ATTEMPTS = 3;

/** Counts a failed fold of one chunk: whether it has failed too often to be tried again. */
export async function countFailure(projectId: string, id: ChunkId): Promise<'retry' | 'exhausted'> {
  const { rows } = await pool().query<{ attempts: number }>(
    `UPDATE pending SET attempts = attempts + 1
     WHERE project_id = $1 AND shard_key = 0 AND day = $2 AND chunk_id = $3 RETURNING attempts`,
    [projectId, id.day, id.chunk_id],
  );
  return rows[0] === undefined || rows[0].attempts < MOST_ATTEMPTS ? 'retry' : 'exhausted';
}

/** Puts a chunk into quarantine, with the reason: it stays where it is and nothing takes it any more. */
export async function quarantineChunk(
  client: PoolClient,
  projectId: string,
  { id, reason }: { id: ChunkId; reason: string },
): Promise<void> {
  await client.query(
    `INSERT INTO quarantine (project_id, shard_key, day, chunk_id, reason, at) VALUES ($1, 0, $2, $3, $4, now())
     ON CONFLICT (project_id, shard_key, day, chunk_id) DO NOTHING`,
    [projectId, id.day, id.chunk_id, reason.slice(0, 500)],
  );
}
