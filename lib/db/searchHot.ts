import type { PoolClient } from 'pg';
import type { Key, Top } from './candidates';
import { dayOf } from './readRaw';
import type { ResolvedFilter } from './resolveFilter';

/** A walk through raw requests. `by`: what they are ordered by, descending. */
export type Search = {
  projectId: string;
  fromUs: number;
  toUs: number;
  filter: ResolvedFilter;
  by: 'e2e' | 'ttft' | 'startedAt';
  after: Key | null;
};
export type Spent = { examined: number; isOver: () => boolean };

const COLUMN_BY = { e2e: 'e2e', ttft: 'ttft', startedAt: 'started_at' } as const;

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
  const { series, attributeSets, outcomes, traceId, sessionId, e2eUs, ttftUs } = filter;
  if (series) add('series', `r.series = ANY(${value(series.ids)}::bigint[])`);
  if (attributeSets) add('attribute_set', `r.attribute_set = ANY(${value(attributeSets.ids)}::bigint[])`);
  if (outcomes) add('outcome', `r.outcome = ANY(${value(outcomes)}::smallint[])`);
  if (traceId !== null) add('trace_id', `r.trace_id = ${value(traceId)}`);
  if (sessionId !== null) add('session_id', `r.session_id = ${value(sessionId)}`);
  add('e2e', `r.e2e >= ${value(e2eUs[0])} AND r.e2e < ${value(e2eUs[1])}`);
  if (ttftUs) add('ttft', `r.ttft >= ${value(ttftUs[0])} AND r.ttft < ${value(ttftUs[1])}`);
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
  const by = COLUMN_BY[search.by];
  const { columns, all } = conditionsOf(search.filter, value);
  const names = [...new Set(['started_at', by, ...columns])];
  all.push('r.started_at >= $4 AND r.started_at < $5', `r.${by} IS NOT NULL`);
  if (search.after) all.push(`r.${by} <= ${value(search.after.value)}`);
  const { rows } = await client.query<{ day: string; chunk_id: string; at: string; value: string; started: string }>(
    `SELECT c.day::text AS day, c.chunk_id, r.at, r.${by} AS value, r.started_at AS started
     FROM hot_chunk c
     CROSS JOIN LATERAL unnest(${names.map((name) => `c.${name}`).join(', ')}) WITH ORDINALITY AS r(${names.join(', ')}, at)
     WHERE c.project_id = $1 AND c.shard_key = 0 AND c.day BETWEEN $2 AND $3 AND c.last_at >= $4 AND c.first_at < $5
       AND ${all.join(' AND ')}
       AND NOT EXISTS (SELECT FROM superseded x WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key
         AND x.day = c.day AND x.chunk_id = c.chunk_id AND x.position = r.at)
     ORDER BY value DESC, started FETCH FIRST ${value(into.k)} ROWS WITH TIES`,
    values,
  );
  for (const row of rows) {
    const place = { sealed: false, day: row.day, chunkId: row.chunk_id, position: Number(row.at) };
    into.top.add({ value: Number(row.value), startedAtUs: Number(row.started), place });
  }
  into.spent.examined += rows.length;
}
