// Raw requests as they are stored, not sealed yet ∪ sealed, chunk by chunk: for the seal, corrections and rebuilds.
// Whoever needs them to stay where they are holds the project's lock in `fold_state`: the seal takes it to move rows.

import type { PoolClient } from 'pg';
import {
  attributeSetIdsOf,
  CHUNK_COLUMNS,
  type ChunkRow,
  decodePlaced,
  openChunk,
  type Placed,
  seriesIdsOf,
} from './chunk';
import { loadCodes } from './codes';
import { codesOf, decodeSealed, PACKED_NUMBERS, PACKED_TEXTS, type SealedRow, WHOLE_COLUMNS } from './sealedChunk';
import { loadAttributeSets, loadSeries } from './series';

/** Where a chunk is. `isPending`: not folded yet; `isQuarantined`: cannot be folded. Sealed ones are neither. */
export type RawHead = {
  sealed: boolean;
  day: string;
  chunkId: string;
  n: number;
  firstAtUs: number;
  lastAtUs: number;
  receivedAt: Date;
  isPending: boolean;
  isQuarantined: boolean;
};
export type RawChunk = { head: RawHead; rows: Placed[] } | { head: RawHead; rows: null; error: unknown };

export type HeadRow = {
  sealed: boolean;
  day: string;
  chunk_id: string;
  n: number;
  first_at: string;
  last_at: string;
  received_at: Date;
  pending: boolean;
  quarantined: boolean;
};

export const SEALED_COLUMNS = [
  'n',
  ...PACKED_TEXTS.flatMap((t) => [t.packed, t.plain]),
  ...PACKED_NUMBERS,
  ...WHOLE_COLUMNS,
  'quality',
  'calls',
].join(', ');

const SEALED_VOIDED = `(SELECT json_agg(x.position) FROM superseded x WHERE x.project_id = sealed_chunk.project_id
  AND x.shard_key = sealed_chunk.shard_key AND x.day = sealed_chunk.day AND x.chunk_id = sealed_chunk.chunk_id) AS voided`;

const EXISTS_IN = (table: string) =>
  `EXISTS (SELECT FROM ${table} p WHERE p.project_id = c.project_id AND p.shard_key = c.shard_key AND p.day = c.day
     AND p.chunk_id = c.chunk_id)`;

/** The select lists of heads; the table stands under the given name. */
export const HEAD_COLUMNS = {
  hot: (c: string) => `false AS sealed, ${c}.day::text AS day, ${c}.chunk_id, ${c}.n, ${c}.first_at, ${c}.last_at,
    ${c}.received_at, false AS pending, false AS quarantined`,
  sealed: (c: string) => `true AS sealed, ${c}.day::text AS day, ${c}.chunk_id, ${c}.n, ${c}.first_at, ${c}.last_at,
    ${c}.received_at, false AS pending, false AS quarantined`,
} as const;

export function headOf(row: HeadRow): RawHead {
  return {
    sealed: row.sealed,
    day: row.day,
    chunkId: row.chunk_id,
    n: row.n,
    firstAtUs: Number(row.first_at),
    lastAtUs: Number(row.last_at),
    receivedAt: row.received_at,
    isPending: row.pending,
    isQuarantined: row.quarantined,
  };
}

/** The chunks of a project that may hold requests of [fromUs, toUs) (µs), from one snapshot, oldest first. */
export async function listRaw(
  client: Pick<PoolClient, 'query'>,
  projectId: string,
  range: { fromUs: number; toUs: number; endpoints?: readonly string[] | null },
): Promise<RawHead[]> {
  const where =
    'c.project_id = $1 AND c.shard_key = 0 AND c.day BETWEEN $2 AND $3 AND c.last_at >= $4 AND c.first_at < $5';
  const { rows } = await client.query<HeadRow>(
    `SELECT false AS sealed, c.day::text AS day, c.chunk_id, c.n, c.first_at, c.last_at, c.received_at,
       ${EXISTS_IN('pending')} AS pending, ${EXISTS_IN('quarantine')} AS quarantined
     FROM hot_chunk c WHERE ${where}
     UNION ALL
     SELECT ${HEAD_COLUMNS.sealed('c')}
     FROM sealed_chunk c WHERE ${where}
       AND ($6::text[] IS NULL OR c.endpoint = ANY($6) OR (c.endpoint = '' AND c.endpoints && $6))
     ORDER BY 5, 3`,
    [projectId, dayOf(range.fromUs), dayOf(range.toUs - 1), range.fromUs, range.toUs, range.endpoints ?? null],
  );
  return rows.map(headOf);
}

/** A UTC day within what Postgres' dates can hold. */
export const dayOf = (us: number) =>
  new Date(Math.min(8.64e15, Math.max(-62_135_596_800_000, Math.floor(us / 1_000)))).toISOString().slice(0, 10);

const FOREVER = { fromUs: 0, toUs: Date.UTC(2200, 0) * 1_000 };

/** All chunks of a project. */
export function listAllRaw(client: Pick<PoolClient, 'query'>, projectId: string): Promise<RawHead[]> {
  return listRaw(client, projectId, FOREVER);
}

type StoredRow = { day: string; chunk_id: string } & ChunkRow;

/**
 * The requests of these chunks that count. A chunk that cannot be decoded comes back with its error. Attributes are left
 * out (null) unless asked for.
 */
export async function readRaw(
  client: Pick<PoolClient, 'query'>,
  projectId: string,
  wanted: { heads: readonly RawHead[]; withAttributes?: boolean },
): Promise<RawChunk[]> {
  const withAttributes = wanted.withAttributes === true;
  const bySealed = (sealed: boolean) => wanted.heads.filter((head) => head.sealed === sealed);
  const [hot, sealed] = [bySealed(false), bySealed(true)];
  return [
    ...(hot.length === 0 ? [] : await readHot(client, projectId, { heads: hot, withAttributes })),
    ...(sealed.length === 0 ? [] : await readSealed(client, projectId, { heads: sealed, withAttributes })),
  ];
}

type Reading = { heads: readonly RawHead[]; withAttributes: boolean };

async function rowsOf(
  client: Pick<PoolClient, 'query'>,
  projectId: string,
  from: { table: 'hot_chunk' | 'sealed_chunk'; columns: string; heads: readonly RawHead[] },
): Promise<{ head: RawHead; row: StoredRow }[]> {
  const { rows } = await client.query<StoredRow>(
    `SELECT day::text AS day, chunk_id, ${from.columns} FROM ${from.table}
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [projectId, [...new Set(from.heads.map((h) => h.day))], from.heads.map((h) => h.chunkId)],
  );
  const byId = new Map(rows.map((row) => [row.chunk_id, row]));
  return from.heads.flatMap((head) => {
    const row = byId.get(head.chunkId);
    return row === undefined ? [] : [{ head, row }];
  });
}

function attempt(head: RawHead, decode: () => Placed[]): RawChunk {
  try {
    return { head, rows: decode() };
  } catch (error) {
    return { head, rows: null, error };
  }
}

async function readHot(client: Pick<PoolClient, 'query'>, projectId: string, reading: Reading): Promise<RawChunk[]> {
  const found = await rowsOf(client, projectId, {
    table: 'hot_chunk',
    columns: CHUNK_COLUMNS,
    heads: reading.heads,
  });
  const rows = found.map((f) => openChunk(f.row));
  const series = await loadSeries(projectId, new Set(rows.flatMap(seriesIdsOf)));
  const sets = reading.withAttributes
    ? await loadAttributeSets(projectId, new Set(rows.flatMap(attributeSetIdsOf)))
    : undefined;
  return found.map(({ head, row }) => attempt(head, () => decodePlaced(row, series, sets)));
}

async function readSealed(client: Pick<PoolClient, 'query'>, projectId: string, reading: Reading): Promise<RawChunk[]> {
  const found = await rowsOf(client, projectId, {
    table: 'sealed_chunk',
    columns: `${SEALED_COLUMNS}, ${SEALED_VOIDED}`,
    heads: reading.heads,
  });
  const codes = found.map(({ row }) => codesOf(row));
  const meaning = await loadCodes(projectId, {
    series: codes.flatMap((c) => c.series),
    ...(reading.withAttributes ? { attributeSets: codes.flatMap((c) => c.attributeSets) } : {}),
  });
  return found.map(({ head, row }) => attempt(head, () => placedOf(row, decodeSealed(row as SealedRow, meaning))));
}

function placedOf(row: StoredRow, decode: (i: number) => Placed['request']): Placed[] {
  const voided = new Set((row.voided ?? []) as number[]);
  const rows: Placed[] = [];
  for (let i = 0; i < row.n; i++) if (!voided.has(i + 1)) rows.push({ position: i + 1, request: decode(i) });
  return rows;
}
