// What the trust page reads: counters of the write path, and what is pending, in quarantine or not sealed.

import { pool } from './pool';

export type CountRow = { hourMs: number; kind: string; count: number };

/** Counters of the hours of receipt that overlap the range (µs since the epoch, half-open). */
export async function readIngestCounts(
  projectId: string,
  range: { fromUs: number; toUs: number },
): Promise<CountRow[]> {
  const { rows } = await pool().query<{ hour_s: string; kind: string; count: string }>(
    `SELECT extract(epoch FROM hour)::bigint AS hour_s, kind, count FROM ingest_count
     WHERE project_id = $1 AND shard_key = 0 AND hour > to_timestamp($2) - interval '1 hour' AND hour < to_timestamp($3)
     ORDER BY hour, kind`,
    [projectId, range.fromUs / 1e6, range.toUs / 1e6],
  );
  return rows.map((row) => ({ hourMs: Number(row.hour_s) * 1000, kind: row.kind, count: Number(row.count) }));
}

export type StoreRow = {
  pendingChunks: number;
  pendingRequests: number;
  oldestPendingMs: number | null;
  quarantinedChunks: number;
  quarantinedRequests: number;
  unsealedChunks: number;
  unsealedRequests: number;
  /** Of the same snapshot. */
  nowMs: number;
};

/** How far the stored requests have come, from one snapshot. */
export async function readStoreState(projectId: string): Promise<StoreRow> {
  const { rows } = await pool().query<Record<string, string | null>>(
    `WITH waiting AS (
       SELECT count(*) AS chunks, coalesce(sum(n), 0) AS n, extract(epoch FROM min(received_at)) * 1000 AS oldest
       FROM pending WHERE project_id = $1 AND shard_key = 0
     ), failed AS (
       SELECT count(*) AS chunks, coalesce(sum(h.n), 0) AS n FROM quarantine q
       LEFT JOIN hot_chunk h USING (project_id, shard_key, day, chunk_id) WHERE q.project_id = $1 AND q.shard_key = 0
     ), hot AS (
       SELECT count(*) AS chunks, coalesce(sum(n), 0) AS n FROM hot_chunk WHERE project_id = $1 AND shard_key = 0
     )
     SELECT waiting.chunks AS pending_chunks, waiting.n AS pending_n, waiting.oldest, failed.chunks AS failed_chunks,
       failed.n AS failed_n, hot.chunks AS hot_chunks, hot.n AS hot_n, extract(epoch FROM now()) * 1000 AS now
     FROM waiting, failed, hot`,
    [projectId],
  );
  const row = rows[0]!;
  return {
    pendingChunks: Number(row.pending_chunks),
    pendingRequests: Number(row.pending_n),
    oldestPendingMs: row.oldest === null || row.oldest === undefined ? null : Number(row.oldest),
    quarantinedChunks: Number(row.failed_chunks),
    quarantinedRequests: Number(row.failed_n),
    unsealedChunks: Number(row.hot_chunks),
    unsealedRequests: Number(row.hot_n),
    nowMs: Number(row.now),
  };
}

export type QuarantineRow = { day: string; chunkId: string; reason: string; at: string };

/** The newest chunks in quarantine. */
export async function readQuarantine(projectId: string, limit: number): Promise<QuarantineRow[]> {
  const { rows } = await pool().query<{ day: string; chunk_id: string; reason: string; at: Date }>(
    `SELECT day::text, chunk_id, reason, at FROM quarantine WHERE project_id = $1 AND shard_key = 0
     ORDER BY at DESC, chunk_id LIMIT $2`,
    [projectId, limit],
  );
  return rows.map((row) => ({ day: row.day, chunkId: row.chunk_id, reason: row.reason, at: row.at.toISOString() }));
}

export type KeyDayRow = {
  keyId: string;
  /** The newest event of the key ever accepted, and its last post (RFC 3339). */
  newestEventAt: string | null;
  receivedAt: string;
  /** Of the days of receipt that overlap the range; ms, receipt − sending; null without skewed posts. */
  skewedPosts: number;
  skewMsMin: number | null;
  skewMsMax: number | null;
};

/** What each key sent last, and the clock skew it showed in the range (µs since the epoch, whole UTC days). */
export async function readKeyDays(projectId: string, range: { fromUs: number; toUs: number }): Promise<KeyDayRow[]> {
  const within =
    "day BETWEEN (to_timestamp($2) AT TIME ZONE 'UTC')::date AND (to_timestamp($3) AT TIME ZONE 'UTC')::date";
  const { rows } = await pool().query<Record<string, unknown>>(
    `SELECT key_id, max(newest_event) AS newest, max(received_at) AS received,
       coalesce(sum(skewed_posts) FILTER (WHERE ${within}), 0) AS skewed,
       min(skew_ms_min) FILTER (WHERE ${within}) AS low, max(skew_ms_max) FILTER (WHERE ${within}) AS high
     FROM ingest_key_day WHERE project_id = $1 AND shard_key = 0 GROUP BY key_id`,
    [projectId, range.fromUs / 1e6, range.toUs / 1e6],
  );
  const number = (value: unknown) => (value === null ? null : Number(value));
  return rows.map((row) => ({
    keyId: String(row.key_id),
    newestEventAt: (row.newest as Date | null)?.toISOString() ?? null,
    receivedAt: (row.received as Date).toISOString(),
    skewedPosts: Number(row.skewed),
    skewMsMin: number(row.low),
    skewMsMax: number(row.high),
  }));
}
