// What the seal takes next: the folded hot chunks that hold requests of the oldest hour that may be sealed.

import type { PoolClient } from 'pg';
import { packedBytesOf } from '../core/packed';
import { pool } from './pool';
import { HEAD_COLUMNS, type HeadRow, headOf, type RawHead } from './readRaw';

const HOUR_S = 3_600;

/** Lets one sealer a project in at a time, for the length of the transaction; false when another is at work. */
export async function lockSeal(client: PoolClient, projectId: string): Promise<boolean> {
  await client.query(
    'INSERT INTO seal_state (project_id, shard_key) VALUES ($1, 0) ON CONFLICT (project_id, shard_key) DO NOTHING',
    [projectId],
  );
  const { rowCount } = await client.query(
    'SELECT 1 FROM seal_state WHERE project_id = $1 AND shard_key = 0 FOR UPDATE SKIP LOCKED',
    [projectId],
  );
  return rowCount === 1;
}

// A chunk waits until the hour of its first request ended `delay` ago, and, when it came later than that, `delay` itself:
// so late data comes together before its hour is sealed again.
const READY = `c.first_at < $1 AND c.received_at < to_timestamp($2)
  AND NOT EXISTS (SELECT FROM pending p WHERE p.project_id = c.project_id AND p.shard_key = c.shard_key
    AND p.day = c.day AND p.chunk_id = c.chunk_id)
  AND NOT EXISTS (SELECT FROM quarantine q WHERE q.project_id = c.project_id AND q.shard_key = c.shard_key
    AND q.day = c.day AND q.chunk_id = c.chunk_id)`;

/** Times before which a chunk is ready: its first request (µs) and its receipt (s). */
export type ReadyBefore = { firstAtUs: number; receivedS: number };

/** Projects with something to seal. */
export async function projectsToSeal(before: ReadyBefore): Promise<string[]> {
  const { rows } = await pool().query<{ project_id: string }>(
    `SELECT DISTINCT c.project_id FROM hot_chunk c WHERE ${READY} LIMIT 1000`,
    [before.firstAtUs, before.receivedS],
  );
  return rows.map((row) => row.project_id);
}

/** The ready chunks whose first request lies in the oldest hour, at most about `requests` requests (one chunk at least). */
export async function nextToSeal(
  client: PoolClient,
  projectId: string,
  { before, requests }: { before: ReadyBefore; requests: number },
): Promise<RawHead[]> {
  const { rows } = await client.query<HeadRow & { upto: string }>(
    `WITH ready AS (
       SELECT c.* FROM hot_chunk c WHERE c.project_id = $3 AND c.shard_key = 0 AND ${READY}
     )
     SELECT ${HEAD_COLUMNS.hot('c')}, sum(c.n) OVER (ORDER BY c.received_at, c.chunk_id) AS upto FROM ready c
     WHERE c.first_at / 3600000000 = (SELECT min(first_at) / 3600000000 FROM ready)
     ORDER BY c.received_at, c.chunk_id`,
    [before.firstAtUs, before.receivedS, projectId],
  );
  return rows.filter((row, i) => i === 0 || Number(row.upto) <= requests).map(headOf);
}

export type SealedHour = RawHead & { voided: number };

/** The sealed chunks of one hour (s since the epoch), with how many of their rows are superseded. */
export async function sealedOfHour(client: PoolClient, projectId: string, hourS: number): Promise<SealedHour[]> {
  const { rows } = await client.query<HeadRow & { voided: string }>(
    `SELECT ${HEAD_COLUMNS.sealed('c')},
       (SELECT count(*) FROM superseded x WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key
          AND x.day = c.day AND x.chunk_id = c.chunk_id) AS voided
     FROM sealed_chunk c WHERE c.project_id = $1 AND c.shard_key = 0 AND c.hour = $2
       AND c.day = (to_timestamp($2) AT TIME ZONE 'UTC')::date`,
    [projectId, hourS],
  );
  return rows.map((row) => ({ ...headOf(row), voided: Number(row.voided) }));
}

/** Which of these ids are in these sealed chunks (superseded rows do not count). */
export async function idsAmong(
  client: PoolClient,
  projectId: string,
  { heads, ids }: { heads: readonly RawHead[]; ids: ReadonlySet<string> },
): Promise<Set<string>> {
  const found = new Set<string>();
  const packed = new Map<string, string>();
  for (const id of ids) {
    const bytes = packedBytesOf(id);
    if (bytes !== null) packed.set(`${id.length === 36 ? 1 : 2}${Buffer.from(bytes).toString('latin1')}`, id);
  }
  for (const head of heads) {
    const { rows } = await client.query<{ ids: Buffer | null; id_texts: string[] | null; voided: number[] | null }>(
      `SELECT ids, id_texts, (SELECT array_agg(position) FROM superseded x WHERE x.project_id = c.project_id
         AND x.shard_key = c.shard_key AND x.day = c.day AND x.chunk_id = c.chunk_id) AS voided
       FROM sealed_chunk c WHERE project_id = $1 AND shard_key = 0 AND day = $2 AND chunk_id = $3`,
      [projectId, head.day, head.chunkId],
    );
    const [row] = rows;
    if (row === undefined) continue;
    const voided = new Set(row.voided ?? []);
    const text = row.ids?.toString('latin1') ?? '';
    for (let i = 0; i < head.n; i++) {
      const plain = row.id_texts?.[i];
      const id = row.ids
        ? packed.get(`${row.ids[0]}${text.slice(1 + 16 * i, 17 + 16 * i)}`)
        : plain !== undefined && ids.has(plain)
          ? plain
          : undefined;
      if (id !== undefined && !voided.has(i + 1)) found.add(id);
    }
  }
  return found;
}

export const hourOf = (us: number) => Math.floor(us / 1e6 / HOUR_S) * HOUR_S;
