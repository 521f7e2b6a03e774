// Rows of assembly_lease and assembled_trace: who assembles a project, and which traces were closed with which spans.

import type { TimedRequest } from '../core/request';
import { arrayLiteral } from './arrayLiteral';
import { flushWithin } from './flush';
import { ensurePartitions, utcDay } from './partitions';
import { inTransaction } from './pendingChunks';
import { pool } from './pool';
import { deletePendingSpans, type SpanChunkId } from './spanStore';

const LEASE_S = 15;

/** The right to assemble a project; `epoch` changes with every change of hands. */
export type Lease = { projectId: string; holder: string; epoch: string };

/** Takes or renews a project's lease for 15 s; null while another holds it. */
export async function takeLease(projectId: string, holder: string): Promise<Lease | null> {
  const { rows } = await pool().query<{ epoch: string }>(
    `INSERT INTO assembly_lease AS l (project_id, shard_key, holder, epoch, held_until)
     VALUES ($1, 0, $2, 1, statement_timestamp() + make_interval(secs => $3))
     ON CONFLICT (project_id, shard_key) DO UPDATE
       SET holder = excluded.holder, held_until = excluded.held_until,
           epoch = CASE WHEN l.holder = excluded.holder THEN l.epoch ELSE l.epoch + 1 END
       WHERE l.holder = excluded.holder OR l.held_until < excluded.held_until - make_interval(secs => $3)
     RETURNING epoch`,
    [projectId, holder, LEASE_S],
  );
  return rows[0] ? { projectId, holder, epoch: rows[0].epoch } : null;
}

/** Lets go of a project, so that another worker need not wait for the lease to run out. */
export async function releaseLease({ projectId, holder }: Lease): Promise<void> {
  await pool().query(
    'UPDATE assembly_lease SET held_until = to_timestamp(0) WHERE project_id = $1 AND shard_key = 0 AND holder = $2',
    [projectId, holder],
  );
}

/** Why a trace was closed. */
export type CloseReason = 'root_settled' | 'idle' | 'span_limit' | 'too_many_open';
/** What became of it. */
export type TraceOutcome = 'joined' | 'requests' | 'no_root' | 'no_request' | 'lost_context' | 'refused';

export type AssembledTrace = {
  traceId: string;
  /** UTC day of its first closing. */
  day: string;
  version: number;
  reason: CloseReason;
  outcome: TraceOutcome;
  spans: number;
  chunkIds: string[];
  requestIds: string[];
  /** Other traces that belong to its request. */
  members: string[];
  /** The trace whose request it belongs to (outcome joined), else null. */
  joinedTo: string | null;
};

type TraceRow = {
  trace_id: string;
  day: string;
  version: number;
  reason: CloseReason;
  outcome: TraceOutcome;
  spans: number;
  chunk_ids: string[];
  requests: string[];
  members: string[] | null;
  joined_to: string | null;
};

/** Those of these traces (32 hex digits) that were closed on `sinceDay` (UTC) or later, by trace id. */
export async function assembledTraces(
  projectId: string,
  { traceIds, sinceDay }: { traceIds: readonly string[]; sinceDay: string },
): Promise<Map<string, AssembledTrace>> {
  if (traceIds.length === 0) return new Map();
  const { rows } = await pool().query<TraceRow>(
    `SELECT encode(trace_id, 'hex') AS trace_id, day::text AS day, version, reason, outcome, spans,
            array_to_json(chunk_ids) AS chunk_ids, array_to_json(requests) AS requests,
            array_to_json(members::text[]) AS members, encode(joined_to, 'hex') AS joined_to
     FROM assembled_trace
     WHERE project_id = $1 AND shard_key = 0 AND trace_id = ANY($2::bytea[]) AND day >= $3`,
    [projectId, arrayLiteral(traceIds.map(bytes)), sinceDay],
  );
  return new Map(rows.map((row) => [row.trace_id, traceOf(row)]));
}

function traceOf(row: TraceRow): AssembledTrace {
  const { trace_id, chunk_ids, requests, members, joined_to, ...same } = row;
  return {
    ...same,
    traceId: trace_id,
    chunkIds: chunk_ids,
    requestIds: requests,
    members: (members ?? []).map((bytes) => bytes.slice(2)), // \x…
    joinedTo: joined_to,
  };
}

const bytes = (hex: string) => `\\x${hex}`;

/** A transaction of this module, handed to what must commit with it. */
export type AssemblyTransaction = Parameters<Parameters<typeof inTransaction>[0]>[0];

export type Closing = {
  /** Closed for the first time. */
  fresh: readonly Omit<AssembledTrace, 'day' | 'version'>[];
  /** Closed before; late spans changed them. `version` is the new one. */
  again: readonly AssembledTrace[];
  /** New requests, to append. */
  requests: readonly TimedRequest[];
  /** Chunks without open traces. */
  done: readonly SpanChunkId[];
  /** What else must commit with it. */
  alongside?: (transaction: AssemblyTransaction) => Promise<void>;
};

/**
 * Stores closed traces, their requests and which chunks are done, all or nothing. False, with nothing stored, when the
 * lease has gone to another worker.
 */
export async function storeClosing(lease: Lease, closing: Closing): Promise<boolean> {
  const { projectId } = lease;
  const day = utcDay(Date.now() * 1_000);
  await ensurePartitions([day]);
  return inTransaction(async (client) => {
    const held = await client.query(
      `SELECT epoch FROM assembly_lease
       WHERE project_id = $1 AND shard_key = 0 AND holder = $2 AND epoch = $3 FOR UPDATE`,
      [projectId, lease.holder, lease.epoch],
    );
    if (held.rowCount !== 1) return false;
    if (closing.requests.length > 0) {
      await flushWithin(
        client,
        closing.requests.map((request) => ({ projectId, request })),
      );
    }
    await insertTraces(client, { projectId, day, traces: closing.fresh });
    for (const trace of closing.again) await updateTrace(client, projectId, trace);
    await closing.alongside?.(client);
    await deletePendingSpans(projectId, closing.done, client);
    return true;
  });
}

async function insertTraces(
  client: AssemblyTransaction,
  { projectId, day, traces }: { projectId: string; day: string; traces: Closing['fresh'] },
): Promise<void> {
  if (traces.length === 0) return;
  const column = (of: (trace: Closing['fresh'][number]) => string | number | null) => arrayLiteral(traces.map(of));
  // arrays of arrays must be rectangular in Postgres, so the inner ones travel as text
  await client.query(
    `INSERT INTO assembled_trace
       (project_id, shard_key, trace_id, day, closed_at, version, reason, outcome, spans, chunk_ids, requests,
        members, joined_to)
     SELECT $1, 0, t, $2, statement_timestamp(), 1, r, o, n, c::uuid[], q::text[], m::bytea[], j
     FROM unnest($3::bytea[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::bytea[])
       AS x(t, r, o, n, c, q, m, j)`,
    [
      projectId,
      day,
      column((trace) => bytes(trace.traceId)),
      column((trace) => trace.reason),
      column((trace) => trace.outcome),
      column((trace) => trace.spans),
      column((trace) => arrayLiteral(trace.chunkIds)),
      column((trace) => arrayLiteral(trace.requestIds)),
      column((trace) => (trace.members.length === 0 ? null : arrayLiteral(trace.members.map(bytes)))),
      column((trace) => trace.joinedTo && bytes(trace.joinedTo)),
    ],
  );
}

async function updateTrace(client: AssemblyTransaction, projectId: string, trace: AssembledTrace): Promise<void> {
  await client.query(
    `UPDATE assembled_trace SET closed_at = statement_timestamp(), version = $4, reason = $5, outcome = $6, spans = $7,
       chunk_ids = $8::uuid[], requests = $9::text[], members = $10::bytea[], joined_to = $11::bytea
     WHERE project_id = $1 AND shard_key = 0 AND trace_id = $2::bytea AND day = $3`,
    [
      projectId,
      bytes(trace.traceId),
      trace.day,
      trace.version,
      trace.reason,
      trace.outcome,
      trace.spans,
      arrayLiteral(trace.chunkIds),
      arrayLiteral(trace.requestIds),
      trace.members.length === 0 ? null : arrayLiteral(trace.members.map(bytes)),
      trace.joinedTo && bytes(trace.joinedTo),
    ],
  );
}
