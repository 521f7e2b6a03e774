// Rows of span_chunk and span_pending: written by the receiver, read by the assembly.

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Half } from '../core/trace/mergeHalves';
import type { ReplicaStart } from '../core/trace/replicas';
import { arrayLiteral } from './arrayLiteral';
import { ensurePartitions, forgetPartitions, utcDay } from './partitions';
import { pool } from './pool';
import {
  decodeTraceIndex,
  decodeTraceLinks,
  type EncodedSpans,
  type InflatedBody,
  inflateBody,
  inflateHalves,
  type TraceEntry,
  type TraceLink,
} from './spanChunk';

/** About what a half costs in memory. */
const HALF_BYTES = 300;

export type SpanChunkId = { day: string; chunkId: string };
export type PendingSpans = SpanChunkId & { receivedAtMs: number; n: number };

/** The place of a chunk by its id alone: its day is in the time of the id. */
export function spanChunkId(chunkId: string): SpanChunkId {
  const ms = Number.parseInt(chunkId.slice(0, 8) + chunkId.slice(9, 13), 16);
  return { chunkId, day: utcDay(ms * 1_000) };
}

/** What one flush stores of a project. */
export type NewSpans = { projectId: string; spans: EncodedSpans; replicaStarts: readonly ReplicaStart[] };

/** Stores one chunk a project; they are committed when it returns. Throws what the database says. */
export async function insertSpanChunks(chunks: readonly NewSpans[]): Promise<void> {
  try {
    await attempt(chunks);
  } catch (error) {
    // 23514: no partition for the row. What was known of the database is wrong: forget it, make them, once more.
    if ((error as { code?: string }).code !== '23514') throw error;
    forgetPartitions();
    await attempt(chunks);
  }
}

async function attempt(chunks: readonly NewSpans[]): Promise<void> {
  const nowMs = Date.now();
  const day = utcDay(nowMs * 1_000);
  await ensurePartitions([day]);
  const params: unknown[] = [];
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const rows = chunks.map(({ projectId, spans }) => {
    const head = [param(projectId, 'uuid'), '0::smallint', param(day, 'date'), param(uuidv7({ msecs: nowMs }), 'uuid')];
    const body = [spans.traceIndex, spans.traceLinks, spans.halves, spans.origins, spans.body].map((bytes) =>
      param(bytes, 'bytea'),
    );
    return `(${[...head, 'statement_timestamp()', param(spans.n, 'integer'), ...body].join(', ')})`;
  });
  const starts = chunks.flatMap(({ projectId, replicaStarts }) => replicaStarts.map((s) => ({ ...s, projectId })));
  const column = (of: (start: (typeof starts)[number]) => string | number, type: string) =>
    param(arrayLiteral(starts.map(of)), type);
  const startColumns = [
    column((start) => start.projectId, 'uuid[]'),
    column((start) => start.replica, 'text[]'),
    column((start) => start.startUs, 'bigint[]'),
    column((start) => start.endUs, 'bigint[]'),
  ];
  const head = 'project_id, shard_key, day, chunk_id, received_at, n';
  await pool().query(
    `WITH c AS (
       INSERT INTO span_chunk (${head}, trace_index, trace_links, halves, origins, body) VALUES ${rows.join(', ')} RETURNING ${head}
     ), s AS (
       INSERT INTO replica_start (project_id, shard_key, day, replica, start_us, end_us)
       SELECT p, 0, ${param(day, 'date')}, r, f, t FROM unnest(${startColumns.join(', ')}) AS x(p, r, f, t)
       ON CONFLICT (project_id, shard_key, day, replica, start_us) DO NOTHING
     )
     INSERT INTO span_pending (${head}) SELECT ${head} FROM c`,
    params,
  );
}

/** Projects with chunks that hold spans of open traces, or with open hints. */
export async function projectsToAssemble(): Promise<string[]> {
  const { rows } = await pool().query<{ project_id: string }>(
    `SELECT project_id FROM span_pending UNION SELECT project_id FROM replica_start WHERE NOT applied
     UNION SELECT project_id FROM broker_use WHERE NOT applied ORDER BY project_id LIMIT 1000`,
  );
  return rows.map((row) => row.project_id);
}

/** A project's pending chunks, oldest first, and the database's clock (ms since the epoch). */
export async function pendingSpans(projectId: string): Promise<{ nowMs: number; chunks: PendingSpans[] }> {
  const { rows } = await pool().query<{ day: string; chunk_id: string; at: number; n: number; now: number }>(
    `SELECT day::text AS day, chunk_id, n, (extract(epoch FROM received_at) * 1000)::float8 AS at,
            (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
     FROM span_pending WHERE project_id = $1 AND shard_key = 0 ORDER BY received_at, chunk_id`,
    [projectId],
  );
  const chunks = rows.map((row) => ({ day: row.day, chunkId: row.chunk_id, receivedAtMs: row.at, n: row.n }));
  return { nowMs: rows[0]?.now ?? 0, chunks };
}

export type TraceIndex = { entries: TraceEntry[]; links: TraceLink[] };

/** Ids of traces with their root among a project's latest chunks, the newest first. */
export async function recentTraceIds(projectId: string, limit: number): Promise<string[]> {
  const { rows } = await pool().query<{ trace_index: Buffer }>(
    `SELECT trace_index FROM span_chunk WHERE project_id = $1 AND shard_key = 0
     ORDER BY day DESC, chunk_id DESC LIMIT 100`,
    [projectId],
  );
  const ids = new Set<string>();
  for (const { trace_index } of rows) {
    for (const entry of decodeTraceIndex(trace_index)) {
      if (entry.rooted && ids.size < limit) ids.add(entry.traceId);
    }
  }
  return [...ids];
}

/** What traces these chunks hold, by chunk id. */
export async function readTraceIndexes(
  projectId: string,
  ids: readonly SpanChunkId[],
): Promise<Map<string, TraceIndex>> {
  const rows = await selectChunks<{ trace_index: Buffer; trace_links: Buffer | null }>(
    projectId,
    ids,
    'trace_index, trace_links',
  );
  return new Map(
    rows.map((row) => [
      row.chunk_id,
      { entries: decodeTraceIndex(row.trace_index), links: decodeTraceLinks(row.trace_links) },
    ]),
  );
}

export type StoredSpans = { entries: TraceEntry[]; halves: Half[]; inflated: InflatedBody; bytes: number };

/** The spans of these chunks, inflated, by chunk id. A chunk that retention took is left out. */
export async function readSpanBodies(
  projectId: string,
  ids: readonly SpanChunkId[],
): Promise<Map<string, StoredSpans>> {
  const rows = await selectChunks<{ trace_index: Buffer; halves: Buffer | null; origins: Buffer; body: Buffer }>(
    projectId,
    ids,
    'trace_index, halves, origins, body',
  );
  const read = await Promise.all(
    rows.map(async (row): Promise<[string, StoredSpans]> => {
      const [inflated, halves] = await Promise.all([inflateBody(row), inflateHalves(row.halves)]);
      const entries = decodeTraceIndex(row.trace_index);
      return [row.chunk_id, { entries, halves, inflated, bytes: inflated.body.length + halves.length * HALF_BYTES }];
    }),
  );
  return new Map(read);
}

async function selectChunks<Row>(
  projectId: string,
  ids: readonly SpanChunkId[],
  columns: string,
): Promise<(Row & { chunk_id: string })[]> {
  if (ids.length === 0) return [];
  // columns are constants of this file
  const { rows } = await pool().query<Row & { chunk_id: string }>(
    `SELECT chunk_id, ${columns} FROM span_chunk
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, arrayLiteral([...new Set(ids.map((id) => id.day))]), arrayLiteral(ids.map((id) => id.chunkId))],
  );
  return rows;
}

/** Removes what stands beside the span partitions of days before this one (UTC), which are gone. */
export async function deleteSpanStateBefore(day: string): Promise<void> {
  await pool().query('DELETE FROM replica_start WHERE day < $1', [day]);
  // A worker connects to its broker once and may live for months
  await pool().query('DELETE FROM broker_use WHERE day < $1::date - 90', [day]);
  await pool().query('DELETE FROM span_pending WHERE day < $1', [day]);
}

/** Marks chunks as done: none of their traces is open any more. */
export async function deletePendingSpans(
  projectId: string,
  ids: readonly SpanChunkId[],
  client: Pick<PoolClient, 'query'> = pool(),
): Promise<void> {
  if (ids.length === 0) return;
  await client.query(
    `DELETE FROM span_pending
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, arrayLiteral([...new Set(ids.map((id) => id.day))]), arrayLiteral(ids.map((id) => id.chunkId))],
  );
}
