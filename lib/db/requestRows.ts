// Single requests, for Requests and its export: by key, a page at a time, each page one short snapshot.
//
// Series and attribute sets are looked up first, so that the rows need no join: a filter on a dimension becomes a set of
// series ids. Orders by time go through the range in windows that grow until the page is full.

import type { TimedRequest } from '../core/request';
import { CACHES, CONNECTIONS, MEASURED_TERMS, OUTCOMES, type Outcome } from '../core/terms';
import { ARRAY_COLUMNS, attributeSetIdsOf, CHUNK_COLUMNS, type ChunkRow, decodeChunk, seriesIdsOf } from './chunk';
import { addDays, utcDay } from './partitions';
import { pool } from './pool';
import { loadAttributeSets, loadSeries } from './series';

export const REQUEST_ORDERS = ['slowest', 'newest', 'oldest'] as const;
export type RequestOrder = (typeof REQUEST_ORDERS)[number];

/** What a list of requests is about. Empty lists and nulls mean "any"; durations in µs. */
export type RequestFilter = {
  projectId: string;
  /** Half-open, µs since the epoch. */
  fromUs: number;
  toUs: number;
  dimensions: Partial<Record<SeriesColumn, readonly string[]>>;
  outcomes: readonly Outcome[];
  attributes: Readonly<Record<string, string>>;
  sessionId: string | null;
  traceId: string | null;
  minE2eUs: number | null;
  maxE2eUs: number | null;
};
export type SeriesColumn =
  | 'endpoint'
  | 'client_region'
  | 'service_region'
  | 'provider'
  | 'model'
  | 'environment'
  | 'version'
  | 'vantage';

/** Where a page ended: the last row's e2e (slowest only), start and id. */
export type RequestKey = { e2eUs: number; startedAtUs: number; id: string };

/** A listed request: without the calls themselves, of which it has `callCount`. */
export type RequestRow = Omit<TimedRequest, 'calls'> & { callCount: number };

type Question = { filter: RequestFilter; order: RequestOrder; after: RequestKey | null; limit: number };

const BUDGET_MS = 2_000;
const FIRST_WINDOW_US = 3_600e6;
const WINDOW_GROWTH = 4;

/**
 * The next `limit` requests in the order asked for, after a key. Throws the database's 57014 when a statement takes
 * longer than the budget.
 */
export async function readRequestRows(question: Question): Promise<RequestRow[]> {
  const { filter, order, after, limit } = question;
  const [series, sets] = await Promise.all([seriesIds(filter), attributeSetIds(filter)]);
  if (series?.length === 0 || sets?.length === 0) return [];
  if (order === 'slowest') return readWindow(question, { series, sets });
  const forward = order === 'oldest';
  let fromUs = Math.max(filter.fromUs, forward && after !== null ? after.startedAtUs : filter.fromUs);
  let toUs = Math.min(filter.toUs, !forward && after !== null ? after.startedAtUs + 1 : filter.toUs);
  const rows: RequestRow[] = [];
  for (let windowUs = FIRST_WINDOW_US; rows.length < limit && fromUs < toUs; windowUs *= WINDOW_GROWTH) {
    const edgeUs = forward ? Math.min(toUs, fromUs + windowUs) : Math.max(fromUs, toUs - windowUs);
    const within = forward ? { fromUs, toUs: edgeUs } : { fromUs: edgeUs, toUs };
    const window = { ...question, filter: { ...filter, ...within }, limit: limit - rows.length };
    rows.push(...(await readWindow(window, { series, sets })));
    if (forward) fromUs = edgeUs;
    else toUs = edgeUs;
  }
  return rows;
}

/** Ids (decimal text) of the series that the filter's dimensions allow; null: all of them. */
async function seriesIds({ projectId, dimensions }: RequestFilter): Promise<string[] | null> {
  const used = Object.entries(dimensions).filter(([, values]) => values.length > 0);
  if (used.length === 0) return null;
  const where = used.map(([column], i) => `${column} = ANY($${i + 2}::text[])`);
  const { rows } = await pool().query<{ id: string }>(
    `SELECT series_id::text AS id FROM series WHERE project_id = $1 AND shard_key = 0 AND ${where.join(' AND ')}`,
    [projectId, ...used.map(([, values]) => values)],
  );
  return rows.map((row) => row.id);
}

/** Ids (decimal text) of the attribute sets that hold all the filter's attributes; null: it names none. */
async function attributeSetIds({ projectId, attributes }: RequestFilter): Promise<string[] | null> {
  if (Object.keys(attributes).length === 0) return null;
  const { rows } = await pool().query<{ id: string }>(
    'SELECT id::text AS id FROM attribute_set WHERE project_id = $1 AND shard_key = 0 AND attributes @> $2::jsonb',
    [projectId, JSON.stringify(attributes)],
  );
  return rows.map((row) => row.id);
}

type Allowed = { series: string[] | null; sets: string[] | null };
type Raw = Record<string, string | number | null>;

/** Columns that hold one value a request, in the order of the chunk. */
const NAMES = ARRAY_COLUMNS.filter(({ name }) => !/^call_(?!count)/.test(name)).map(({ name }) => name);

async function readWindow({ filter, order, after, limit }: Question, allowed: Allowed): Promise<RequestRow[]> {
  const params: unknown[] = [];
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const chunks = [
    `c.project_id = ${param(filter.projectId, 'uuid')} AND c.shard_key = 0`,
    `c.day BETWEEN ${param(utcDay(filter.fromUs), 'date')} AND ${param(utcDay(filter.toUs - 1), 'date')}`,
    `c.last_at >= ${param(filter.fromUs, 'bigint')} AND c.first_at < ${param(filter.toUs, 'bigint')}`,
  ];
  const where = conditions(filter, allowed, param);
  if (after !== null) where.push(afterKey(order, after, param));
  const direction = order === 'oldest' ? 'ASC' : 'DESC';
  const by = order === 'slowest' ? ['e2e', 'started_at', 'ids'] : ['started_at', 'ids'];
  const sql = `SELECT r.* FROM hot_chunk c
      CROSS JOIN LATERAL unnest(${NAMES.map((name) => `c.${name}`).join(', ')}) AS r(${NAMES.join(', ')})
    WHERE ${[...chunks, ...where].join(' AND ')}
    ORDER BY ${by.map((column) => `r.${column} ${direction}`).join(', ')} LIMIT ${param(limit, 'integer')}`;
  const rows = await withinBudget(sql, params);
  const ids = (name: string) => rows.flatMap((row) => (row[name] === null ? [] : [String(row[name])]));
  const [series, sets] = await Promise.all([
    loadSeries(filter.projectId, ids('series')),
    loadAttributeSets(filter.projectId, ids('attribute_set')),
  ]);
  return rows.map((row) => ({
    ...toRow(row),
    dims: series.get(String(row.series))!,
    attributes: row.attribute_set === null ? null : (sets.get(String(row.attribute_set)) ?? null),
  }));
}

async function withinBudget(sql: string, params: unknown[]): Promise<Raw[]> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN READ ONLY');
    await client.query(`SET LOCAL statement_timeout = ${BUDGET_MS}`);
    const { rows } = await client.query<Raw>(sql, params);
    await client.query('COMMIT');
    return rows;
  } catch (error) {
    await client.query('ROLLBACK').catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

type Param = (value: unknown, type: string) => string;

function conditions(filter: RequestFilter, { series, sets }: Allowed, param: Param): string[] {
  const { fromUs, toUs, outcomes, sessionId, traceId, minE2eUs, maxE2eUs } = filter;
  const where = [`r.started_at >= ${param(fromUs, 'bigint')} AND r.started_at < ${param(toUs, 'bigint')}`];
  if (series !== null) where.push(`r.series = ANY(${param(series, 'bigint[]')})`);
  if (sets !== null) where.push(`r.attribute_set = ANY(${param(sets, 'bigint[]')})`);
  if (outcomes.length > 0)
    where.push(
      `r.outcome = ANY(${param(
        outcomes.map((o) => OUTCOMES.indexOf(o)),
        'smallint[]',
      )})`,
    );
  if (sessionId !== null) where.push(`r.session_id = ${param(sessionId, 'text')}`);
  if (traceId !== null) where.push(`r.trace_id = ${param(traceId, 'text')}`);
  if (minE2eUs !== null) where.push(`r.e2e >= ${param(minE2eUs, 'bigint')}`);
  if (maxE2eUs !== null) where.push(`r.e2e < ${param(maxE2eUs, 'bigint')}`);
  return where;
}

function afterKey(order: RequestOrder, key: RequestKey, param: Param): string {
  const start = param(key.startedAtUs, 'bigint');
  const id = param(key.id, 'text');
  if (order === 'slowest') return `(r.e2e, r.started_at, r.ids) < (${param(key.e2eUs, 'bigint')}, ${start}, ${id})`;
  return `(r.started_at, r.ids) ${order === 'oldest' ? '>' : '<'} (${start}, ${id})`;
}

const snake = (name: string) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

function toRow(row: Raw): Omit<RequestRow, 'dims' | 'attributes'> {
  const text = (name: string) => (row[name] ?? null) as string | null;
  const number = (name: string) => (row[name] === null || row[name] === undefined ? null : Number(row[name]));
  return {
    id: text('ids')!,
    startedAtUs: number('started_at')!,
    outcome: OUTCOMES[number('outcome')!]!,
    e2eUs: number('e2e')!,
    ttftUs: number('ttft'),
    terms: MEASURED_TERMS.map((term) => number(snake(term))),
    evidence: number('evidence')!,
    decodeUs: number('decode'),
    serviceUs: number('service'),
    connection: CONNECTIONS[number('connection_kind') ?? -1] ?? null,
    roundTrips: number('round_trips'),
    rttUs: number('rtt'),
    inputTokens: number('input_tokens'),
    outputTokens: number('output_tokens'),
    cachedInputTokens: number('cached_input_tokens'),
    inFlight: number('in_flight'),
    cache: CACHES[number('cache') ?? -1] ?? null,
    quality: number('quality'),
    weight: number('weight') ?? 1,
    traceId: text('trace_id'),
    sessionId: text('session_id'),
    callCount: number('call_count') ?? 0,
  };
}

/**
 * One request with its calls, or null. `aroundUs` (its start, µs since the epoch) keeps the search to that UTC day and
 * its neighbours; without it every day that is kept is searched. Of an id that was stored twice the newest counts.
 */
export async function readRequestById(
  projectId: string,
  { id, aroundUs }: { id: string; aroundUs: number | null },
): Promise<TimedRequest | null> {
  const days = aroundUs === null ? null : [-1, 0, 1].map((offset) => addDays(utcDay(aroundUs), offset));
  const { rows } = await pool().query<ChunkRow>(
    `SELECT ${CHUNK_COLUMNS} FROM hot_chunk WHERE project_id = $1 AND shard_key = 0
       AND ($2::date[] IS NULL OR day = ANY($2)) AND $3 = ANY(ids) ORDER BY received_at DESC LIMIT 1`,
    [projectId, days, id],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const [series, sets] = await Promise.all([
    loadSeries(projectId, seriesIdsOf(row)),
    loadAttributeSets(projectId, attributeSetIdsOf(row)),
  ]);
  return decodeChunk(row, series, sets).find((request) => request.id === id) ?? null;
}
