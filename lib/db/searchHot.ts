import type { PoolClient } from 'pg';
import type { Key, Top } from './candidates';
import { dayOf } from './readRaw';
import type { ResolvedFilter } from './resolveFilter';

/** A walk through raw requests. */
export type Search = {
  projectId: string;
  fromUs: number;
  toUs: number;
  filter: ResolvedFilter;
  order: RequestOrder;
  after: Key | null;
};

/** What is read and what may be read at most. */
export type Spent = { examined: number; isOver: () => boolean };

export const REQUEST_ORDERS = ['slowest', 'newest', 'oldest'] as const;
export type RequestOrder = (typeof REQUEST_ORDERS)[number];
/** The column that orders, and what its value is multiplied by so that the first comes with the largest. */
export const ORDERED_BY = {
  slowest: { column: 'e2e', sign: 1 },
  newest: { column: 'started_at', sign: 1 },
  oldest: { column: 'started_at', sign: -1 },
} as const;

/** The conditions of a filter on one request; `value` turns a parameter into its placeholder. */
function conditionsOf(
  filter: ResolvedFilter,
  value: (parameter: unknown) => string,
): { columns: string[]; all: string[] } {
  const columns: string[] = [];
  const all: string[] = [];
  const add = (column: string, condition: string) => {
    columns.push(column);
    all.push(condition);
  };
  const { series, attributeSets, outcomes, traceId, sessionId, e2eUs } = filter;
  if (series) add('series', `r.series = ANY(${value(series.ids)}::bigint[])`);
  if (attributeSets) add('attribute_set', `r.attribute_set = ANY(${value(attributeSets.ids)}::bigint[])`);
  if (outcomes) add('outcome', `r.outcome = ANY(${value(outcomes)}::smallint[])`);
  if (traceId !== null) add('trace_id', `r.trace_id = ${value(traceId)}`);
  if (sessionId !== null) add('session_id', `r.session_id = ${value(sessionId)}`);
  add('e2e', `r.e2e >= ${value(e2eUs[0])} AND r.e2e < ${value(e2eUs[1])}`);
  return { columns, all };
}

/** Adds the requests that are not sealed yet. Only the arrays that decide are unpacked. */
export async function searchHot(
  client: Pick<PoolClient, 'query'>,
  search: Search,
  into: { top: Top; spent: Spent; k: number },
): Promise<void> {
  const values: unknown[] = [
    search.projectId,
    dayOf(search.fromUs),
    dayOf(search.toUs - 1),
    search.fromUs,
    search.toUs,
  ];
  const value = (parameter: unknown) => `$${values.push(parameter)}`;
  const { column, sign } = ORDERED_BY[search.order];
  const { columns, all } = conditionsOf(search.filter, value);
  const names = [...new Set(['started_at', column, ...columns])];
  all.push('r.started_at >= $4 AND r.started_at < $5');
  const by = `${sign} * r.${column}`;
  const matching = (condition: string, first: string) =>
    `(SELECT c.day::text AS day, c.chunk_id, r.at, ${by} AS value, r.started_at AS started
     FROM hot_chunk c
     CROSS JOIN LATERAL unnest(${names.map((name) => `c.${name}`).join(', ')}) WITH ORDINALITY AS r(${names.join(', ')}, at)
     WHERE c.project_id = $1 AND c.shard_key = 0 AND c.day BETWEEN $2 AND $3 AND c.last_at >= $4 AND c.first_at < $5
       AND ${[...all, condition].join(' AND ')}
       AND NOT EXISTS (SELECT FROM superseded x WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key
         AND x.day = c.day AND x.chunk_id = c.chunk_id AND x.position = r.at)
     ${first})`;
  const first = `ORDER BY value DESC, started DESC FETCH FIRST ${value(into.k)} ROWS WITH TIES`;
  const after = search.after && `(${value(search.after.value)}::bigint, ${value(search.after.startedAtUs)}::bigint)`;
  // Those level with the cursor come besides: only their ids tell which of them follow it.
  const { rows } = await client.query<{ day: string; chunk_id: string; at: string; value: string; started: string }>(
    after === null
      ? matching('true', first)
      : `${matching(`(${by}, r.started_at) < ${after}`, first)} UNION ALL ${matching(`(${by}, r.started_at) = ${after}`, '')}`,
    values,
  );
  for (const row of rows) {
    const place = { sealed: false, day: row.day, chunkId: row.chunk_id, position: Number(row.at) };
    into.top.add({ value: Number(row.value), startedAtUs: Number(row.started), place });
  }
  into.spent.examined += rows.length;
}
