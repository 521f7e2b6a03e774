// Writes to raw chunks by others than the flush: the rest of a chunk that was sealed in part, corrected requests, sealed
// chunks, and what leaves. All of it within the caller's transaction.

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { TimedRequest } from '../core/request';
import { ARRAY_COLUMNS, encodeChunk } from './chunk';
import { utcDay } from './partitions';
import type { RawHead } from './readRaw';
import type { SealedColumns } from './sealedChunk';
import { PACKED_NUMBERS, PACKED_TEXTS, WHOLE_COLUMNS } from './sealedChunk';

const HOT_CHUNK_REQUESTS = 5_000;

/**
 * Inserts requests as hot chunks, one a UTC day (and 5,000 requests). Their partitions, series and attribute sets exist.
 * `pending`: to be folded; otherwise they are in the roll-ups already.
 */
export async function insertHotChunks(
  client: PoolClient,
  projectId: string,
  { requests, pending, receivedAt }: { requests: readonly TimedRequest[]; pending: boolean; receivedAt: Date },
): Promise<void> {
  const byDay = new Map<string, TimedRequest[]>();
  for (const request of requests) {
    const day = utcDay(request.startedAtUs);
    const some = byDay.get(day);
    if (some) some.push(request);
    else byDay.set(day, [request]);
  }
  for (const [day, ofDay] of byDay) {
    for (let at = 0; at < ofDay.length; at += HOT_CHUNK_REQUESTS) {
      const chunk = encodeChunk(ofDay.slice(at, at + HOT_CHUNK_REQUESTS));
      await insertRawChunk(client, projectId, { chunk, day, pending, receivedAt });
    }
  }
}

/** A hot chunk as it is inserted: arrays in the order of ARRAY_COLUMNS, binary or as text literals. */
export type RawArrays = { n: number; firstAtUs: number; lastAtUs: number; arrays: readonly (Buffer | string | null)[] };

/** Inserts one hot chunk; its id. */
export async function insertRawChunk(
  client: PoolClient,
  projectId: string,
  { chunk, day, pending, receivedAt }: { chunk: RawArrays; day: string; pending: boolean; receivedAt: Date },
): Promise<string> {
  const chunkId = uuidv7();
  const head = [projectId, day, chunkId, receivedAt, chunk.n, chunk.firstAtUs, chunk.lastAtUs];
  await client.query(
    `INSERT INTO hot_chunk (project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at,
       ${ARRAY_COLUMNS.map((c) => c.name).join(', ')})
     VALUES ($1, 0, $2, $3, $4, $5, $6, $7, ${ARRAY_COLUMNS.map((c, i) => `$${i + 8}::${c.type}`).join(', ')})`,
    [...head, ...chunk.arrays],
  );
  if (pending)
    await client.query(
      `INSERT INTO pending (project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at)
       VALUES ($1, 0, $2, $3, $4, $5, $6, $7)`,
      head,
    );
  return chunkId;
}

/** Deletes one hot chunk with what superseded names in it; when it was received. Throws when it is not there. */
export async function deleteHotChunk(
  client: PoolClient,
  projectId: string,
  id: { day: string; chunk_id: string },
): Promise<Date> {
  const where = 'project_id = $1 AND shard_key = 0 AND day = $2 AND chunk_id = $3';
  const values = [projectId, id.day, id.chunk_id];
  await client.query(`DELETE FROM superseded WHERE ${where}`, values);
  const { rows } = await client.query<{ received_at: Date }>(
    `DELETE FROM hot_chunk WHERE ${where} RETURNING received_at`,
    values,
  );
  if (rows[0] === undefined) throw new Error(`chunk ${id.chunk_id} is gone: read it again under the project's lock`);
  return rows[0].received_at;
}

/** What stands in plain columns of a sealed chunk beside its packed ones. */
export type SealedHead = {
  day: string;
  hourS: number;
  receivedAt: Date;
  n: number;
  firstAtUs: number;
  lastAtUs: number;
  minE2eUs: number;
  maxE2eUs: number;
  maxTtftUs: number | null;
  endpoints: readonly string[];
  /** Codes; null when there are many. */
  attributeSets: readonly number[] | null;
};

const PACKED = [
  ...PACKED_TEXTS.flatMap((t) => [t.packed, t.plain]),
  ...PACKED_NUMBERS,
  ...WHOLE_COLUMNS,
  'quality',
  'calls',
];

export async function insertSealedChunk(
  client: PoolClient,
  projectId: string,
  { head, columns }: { head: SealedHead; columns: SealedColumns },
): Promise<void> {
  const bytes = (value: SealedColumns[string]) => (value instanceof Uint8Array ? Buffer.from(value) : value);
  const several = head.endpoints.length > 1;
  await client.query(
    `INSERT INTO sealed_chunk (project_id, shard_key, day, chunk_id, hour, sealed_at, received_at, n, first_at, last_at,
       min_e2e, max_e2e, max_ttft, endpoint, endpoints, attribute_sets, ${PACKED.join(', ')})
     VALUES ($1, 0, $2, $3, $4, now(), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
       ${PACKED.map((_, i) => `$${i + 15}`).join(', ')})`,
    [
      projectId,
      head.day,
      uuidv7(),
      head.hourS,
      head.receivedAt,
      head.n,
      head.firstAtUs,
      head.lastAtUs,
      head.minE2eUs,
      head.maxE2eUs,
      head.maxTtftUs,
      several ? '' : head.endpoints[0]!,
      several ? head.endpoints : null,
      head.attributeSets,
      ...PACKED.map((name) => bytes(columns[name] ?? null)),
    ],
  );
}

type ChunkName = Pick<RawHead, 'day' | 'chunkId'>;
const namesOf = (heads: readonly ChunkName[]) => [heads.map((h) => h.day), heads.map((h) => h.chunkId)];

/** Deletes chunks with what superseded names in them; how many of them were still there. */
export async function deleteRaw(client: PoolClient, projectId: string, heads: readonly RawHead[]): Promise<number> {
  let deleted = 0;
  for (const table of ['hot_chunk', 'sealed_chunk'] as const) {
    const some = heads.filter((head) => head.sealed === (table === 'sealed_chunk'));
    if (some.length === 0) continue;
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
      [projectId, ...namesOf(some)],
    );
    deleted += rowCount ?? 0;
  }
  await client.query(
    'DELETE FROM superseded WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])',
    [projectId, ...namesOf(heads)],
  );
  return deleted;
}

/** How many rows of these chunks are superseded. */
export async function countSuperseded(
  client: PoolClient,
  projectId: string,
  heads: readonly RawHead[],
): Promise<number> {
  const { rows } = await client.query<{ n: string }>(
    `SELECT count(*) AS n FROM superseded
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, ...namesOf(heads)],
  );
  return Number(rows[0]!.n);
}

/** Marks rows of raw as no longer counting. `position` counts from 1. */
export async function insertSuperseded(
  client: PoolClient,
  projectId: string,
  rows: readonly (ChunkName & { position: number; id: string })[],
): Promise<void> {
  await client.query(
    `INSERT INTO superseded (project_id, shard_key, day, chunk_id, position, id, at)
     SELECT $1, 0, d, c, p, i, now() FROM unnest($2::date[], $3::uuid[], $4::integer[], $5::text[]) AS r(d, c, p, i)`,
    [projectId, ...namesOf(rows), rows.map((r) => r.position), rows.map((r) => r.id)],
  );
}

/** Which of these rows are superseded, as `chunkId/position`. */
export async function supersededAmong(
  client: PoolClient,
  projectId: string,
  rows: readonly (ChunkName & { position: number })[],
): Promise<Set<string>> {
  const found = await client.query<{ name: string }>(
    `SELECT chunk_id || '/' || position AS name FROM superseded
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, ...namesOf(rows)],
  );
  return new Set(found.rows.map((row) => row.name));
}
