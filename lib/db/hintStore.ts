// Rows of replica_start and broker_use: what one trace tells of others. A hint is open until the closed traces that it
// concerns were looked at once more.

import type { PoolClient } from 'pg';
import type { BrokerUse } from '../core/trace/brokers';
import { clockOf } from '../core/trace/read';
import type { ReplicaStart } from '../core/trace/replicas';
import { arrayLiteral } from './arrayLiteral';
import { utcDay } from './partitions';
import { pool } from './pool';
import { decodeSpans, inflateOrigins } from './spanChunk';
import { readSpanBodies, type SpanChunkId } from './spanStore';

/** Replicas that were starting at some time in a range of µs since the epoch, received on `sinceDay` or later. */
export async function replicaStarts(
  projectId: string,
  { fromUs, toUs, sinceDay }: { fromUs: number; toUs: number; sinceDay: string },
): Promise<ReplicaStart[]> {
  const { rows } = await pool().query<{ replica: string; start_us: string; end_us: string }>(
    `SELECT replica, start_us, end_us FROM replica_start
     WHERE project_id = $1 AND shard_key = 0 AND day >= $2 AND end_us > $3 AND start_us < $4
     ORDER BY start_us LIMIT 20000`,
    [projectId, sinceDay, fromUs, toUs],
  );
  return rows.map((row) => ({ replica: row.replica, startUs: Number(row.start_us), endUs: Number(row.end_us) }));
}

/** Notes who uses which broker; what is known already stays as it is. */
export async function noteBrokerUses(projectId: string, uses: readonly BrokerUse[]): Promise<void> {
  if (uses.length === 0) return;
  await pool().query(
    `INSERT INTO broker_use (project_id, shard_key, process, address, sends, day)
     SELECT $1, 0, p, a, s, $5 FROM unnest($2::text[], $3::text[], $4::boolean[]) AS x(p, a, s) ON CONFLICT DO NOTHING`,
    [projectId, ...columnsOf(uses), utcDay(Date.now() * 1_000)],
  );
}

/** Those of these processes that are connected to a broker which another process puts work into. */
export async function workersAmong(projectId: string, processes: readonly string[]): Promise<Set<string>> {
  if (processes.length === 0) return new Set();
  const { rows } = await pool().query<{ process: string }>(
    `SELECT DISTINCT u.process FROM broker_use u JOIN broker_use s USING (project_id, shard_key, address)
     WHERE u.project_id = $1 AND u.shard_key = 0 AND u.process = ANY($2::text[]) AND s.sends AND s.process <> u.process`,
    [projectId, arrayLiteral(processes)],
  );
  return new Set(rows.map((row) => row.process));
}

type StartKey = { day: string; replica: string; startUs: string };
/** Hints that no closed trace has been looked at for, and whom they may concern since when (ms since the epoch). */
export type OpenHints = { starts: StartKey[]; uses: BrokerUse[]; processes: Set<string>; sinceMs: number };

/** How far back a broker's hint reaches: calls that were running when it came are not much older; ms. */
const BROKER_REACH_MS = 300_000;
/** A start that is told within this time of its end is older than any closed trace of those who waited; ms. */
const SETTLED_MS = 5_000;
/** What clocks may be apart; ms. */
const CLOCKS_MS = 60_000;

/** The hints of a project that are open; null when there are none. */
export async function openHints(projectId: string): Promise<OpenHints | null> {
  const open = 'WHERE project_id = $1 AND shard_key = 0 AND NOT applied LIMIT 1000';
  const [starts, uses] = await Promise.all([
    pool().query<StartRow>(
      `SELECT day::text AS day, replica, start_us, end_us::float8 / 1000 AS end_ms,
              (extract(epoch FROM received_at) * 1000)::float8 AS at_ms FROM replica_start ${open}`,
      [projectId],
    ),
    pool().query<BrokerUse>(`SELECT process, address, sends FROM broker_use ${open}`, [projectId]),
  ]);
  if (starts.rows.length === 0 && uses.rows.length === 0) return null;
  const late = starts.rows.filter(({ end_ms, at_ms }) => at_ms > end_ms + SETTLED_MS || at_ms < end_ms);
  const workers = await workersBeside(projectId, uses.rows);
  return {
    starts: starts.rows.map(({ day, replica, start_us }) => ({ day, replica, startUs: start_us })),
    uses: uses.rows,
    processes: new Set([...late.map((start) => start.replica), ...workers]),
    sinceMs: Math.min(
      ...late.map(({ end_ms, at_ms }) => Math.min(end_ms, at_ms) - CLOCKS_MS),
      ...(workers.length > 0 ? [Date.now() - BROKER_REACH_MS] : []),
    ),
  };
}

type StartRow = { day: string; replica: string; start_us: string; end_ms: number; at_ms: number };

/** Workers at the brokers of these uses. */
async function workersBeside(projectId: string, uses: readonly BrokerUse[]): Promise<string[]> {
  if (uses.length === 0) return [];
  const { rows } = await pool().query<{ process: string }>(
    `SELECT process FROM broker_use WHERE project_id = $1 AND shard_key = 0 AND address = ANY($2::text[])`,
    [projectId, arrayLiteral(uses.map((use) => use.address))],
  );
  return [...(await workersAmong(projectId, [...new Set(rows.map((row) => row.process))]))];
}

/** Closes hints, in the transaction that corrects whom they concern. */
export async function markHintsApplied(
  client: Pick<PoolClient, 'query'>,
  projectId: string,
  { starts, uses }: Pick<OpenHints, 'starts' | 'uses'>,
): Promise<void> {
  await client.query(
    `UPDATE replica_start SET applied = true FROM unnest($2::date[], $3::text[], $4::bigint[]) AS x(d, r, s)
     WHERE project_id = $1 AND shard_key = 0 AND day = d AND replica = r AND start_us = s`,
    [
      projectId,
      arrayLiteral(starts.map((start) => start.day)),
      arrayLiteral(starts.map((start) => start.replica)),
      arrayLiteral(starts.map((start) => start.startUs)),
    ],
  );
  await client.query(
    `UPDATE broker_use SET applied = true FROM unnest($2::text[], $3::text[], $4::boolean[]) AS x(p, a, s)
     WHERE project_id = $1 AND shard_key = 0 AND process = p AND address = a AND sends = s`,
    [projectId, ...columnsOf(uses)],
  );
}

const columnsOf = (uses: readonly BrokerUse[]) => [
  arrayLiteral(uses.map((use) => use.process)),
  arrayLiteral(uses.map((use) => use.address)),
  arrayLiteral(uses.map((use) => String(use.sends))),
];

const CHUNKS_A_READ = 16;

/** Traces with spans that these processes made, received since then. */
export async function tracesMadeBy(
  projectId: string,
  { processes, sinceMs }: Pick<OpenHints, 'processes' | 'sinceMs'>,
): Promise<Set<string>> {
  const traceIds = new Set<string>();
  if (processes.size === 0) return traceIds;
  const chunks = await chunksMadeBy(projectId, { processes, sinceMs });
  for (let at = 0; at < chunks.length; at += CHUNKS_A_READ) {
    for (const stored of (await readSpanBodies(projectId, chunks.slice(at, at + CHUNKS_A_READ))).values()) {
      for (const entry of stored.entries) {
        if (traceIds.has(entry.traceId)) continue;
        const spans = decodeSpans(stored.inflated, entry);
        if (spans.some((span) => processes.has(clockOf(span)))) traceIds.add(entry.traceId);
      }
    }
  }
  return traceIds;
}

async function chunksMadeBy(
  projectId: string,
  { processes, sinceMs }: Pick<OpenHints, 'processes' | 'sinceMs'>,
): Promise<SpanChunkId[]> {
  // The time is in the ids of chunks
  const hex = Math.max(0, Math.floor(sinceMs)).toString(16).padStart(12, '0');
  const { rows } = await pool().query<{ day: string; chunk_id: string; origins: Buffer }>(
    `SELECT day::text AS day, chunk_id, origins FROM span_chunk
     WHERE project_id = $1 AND shard_key = 0 AND day >= $2 AND chunk_id >= $3::uuid`,
    [projectId, utcDay(sinceMs * 1_000), `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`],
  );
  const found: SpanChunkId[] = [];
  for (const row of rows) {
    const origins = await inflateOrigins(row.origins);
    if (origins.some((origin) => processes.has(clockOf(origin)))) found.push({ day: row.day, chunkId: row.chunk_id });
  }
  return found;
}
