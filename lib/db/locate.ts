import type { PoolClient } from 'pg';
import { packedBytesOf } from '../core/packed';
import type { RawPlace } from './rawRows';
import { dayOf } from './readRaw';

/** A request by its id or its trace, begun in [fromUs, toUs) (µs). A range of one µs is the fastest to search. */
export type Wanted = { id: string | null; traceId: string | null; fromUs: number; toUs: number };

type Client = Pick<PoolClient, 'query'>;
type Row = { day: string; chunk_id: string; position: number };

const NOT_VOIDED = `NOT EXISTS (SELECT FROM superseded x WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key
  AND x.day = c.day AND x.chunk_id = c.chunk_id AND x.position = p.position)`;

const IN_RANGE = `c.project_id = $1 AND c.shard_key = 0 AND c.day BETWEEN $2 AND $3 AND c.last_at >= $4 AND c.first_at < $5`;

/** Where the requests with this id (or trace) are that count; the first received first. Empty when there is none. */
export async function locate(client: Client, projectId: string, wanted: Wanted): Promise<RawPlace[]> {
  const names =
    wanted.id !== null
      ? { plain: 'ids', packed: 'ids', texts: 'id_texts', text: wanted.id }
      : { plain: 'trace_id', packed: 'trace_ids', texts: 'trace_texts', text: wanted.traceId! };
  const range = [projectId, dayOf(wanted.fromUs), dayOf(wanted.toUs - 1), wanted.fromUs, wanted.toUs, names.text];
  const hot = await client.query<Row>(
    `SELECT c.day::text AS day, c.chunk_id, p.position FROM hot_chunk c
     CROSS JOIN LATERAL unnest(array_positions(c.${names.plain}, $6)) AS p(position)
     WHERE ${IN_RANGE} AND c.started_at[p.position] >= $4 AND c.started_at[p.position] < $5 AND ${NOT_VOIDED}
     ORDER BY c.received_at, c.chunk_id, p.position`,
    range,
  );
  const bytes = packedBytesOf(names.text);
  const sealed = await client.query<Row>(
    `SELECT c.day::text AS day, c.chunk_id, p.position FROM sealed_chunk c
     CROSS JOIN LATERAL (SELECT c.started_at || ''::bytea AS started_at OFFSET 0) AS s
     CROSS JOIN LATERAL (SELECT c.${names.packed} || ''::bytea AS packed OFFSET 0) AS d
     CROSS JOIN LATERAL (
       SELECT i + 1 AS position
       FROM generate_series(0, CASE WHEN position($7::bytea IN d.packed) > 0 THEN c.n - 1 ELSE -1 END) AS i
       WHERE substring(d.packed FROM 2 + 16 * i FOR 16) = $7
       UNION ALL SELECT unnest(array_positions(c.${names.texts}, $6))
     ) AS p
     WHERE ${IN_RANGE} AND ($5 > $4 + 1 OR position(packed_needle(s.started_at, $4) IN s.started_at) > 0)
       AND packed_number(c.started_at, p.position - 1) >= $4
       AND packed_number(c.started_at, p.position - 1) < $5 AND ${NOT_VOIDED}`,
    [...range, bytes && Buffer.from(bytes)],
  );
  const places = (rows: Row[], isSealed: boolean) =>
    rows.map((row) => ({ sealed: isSealed, day: row.day, chunkId: row.chunk_id, position: row.position }));
  return [...places(sealed.rows, true), ...places(hot.rows, false)];
}
