import type { PoolClient } from 'pg';
import { numbersOf, textsOf } from '../core/packed';
import type { Top } from './candidates';
import { dayOf } from './readRaw';
import type { ResolvedFilter } from './resolveFilter';
import { ORDERED_BY, type Search, type Spent } from './searchHot';

type Client = Pick<PoolClient, 'query'>;
type Head = { day: string; chunk_id: string; n: number; bound: string; endpoint: string };
type Columns = { chunk_id: string; voided: number[] | null } & Record<string, unknown>;

/** The most that a value of a chunk can be, and the least. */
const BOUNDS = {
  slowest: { most: 'c.max_e2e', least: 'c.min_e2e' },
  newest: { most: 'c.last_at', least: 'c.first_at' },
  oldest: { most: '-c.first_at', least: '-c.last_at' },
} as const;
const HEADS_A_PAGE = 1_000;
/** Chunks a read: few at first, since the first ones often suffice. */
const FIRST_READ = 8;
const LARGEST_READ = 64;

/** The chunks that may hold something, in the order of their maxima, beginning below `before`. */
async function headsOf(client: Client, search: Search, before: Head | null): Promise<Head[]> {
  const { filter, after } = search;
  const { most, least } = BOUNDS[search.order];
  const values: unknown[] = [
    search.projectId,
    dayOf(search.fromUs),
    dayOf(search.toUs - 1),
    search.fromUs,
    search.toUs,
  ];
  const value = (parameter: unknown) => `$${values.push(parameter)}`;
  const all = [
    'c.project_id = $1 AND c.shard_key = 0 AND c.day BETWEEN $2 AND $3 AND c.last_at >= $4 AND c.first_at < $5',
    `c.max_e2e >= ${value(filter.e2eUs[0])} AND c.min_e2e < ${value(filter.e2eUs[1])}`,
  ];
  if (filter.attributeSets) {
    const codes = value([...filter.attributeSets.codes]);
    all.push(`(c.attribute_sets IS NULL OR c.attribute_sets && ${codes}::integer[])`);
  }
  if (after !== null) all.push(`${least} <= ${value(after.value)}`);
  if (before) all.push(`(${most}, c.chunk_id) < (${value(before.bound)}, ${value(before.chunk_id)})`);
  const page = (condition: string) =>
    `(SELECT c.day::text AS day, c.chunk_id, c.n, ${most} AS bound, c.endpoint FROM sealed_chunk c
      WHERE ${[...all, condition].join(' AND ')} ORDER BY ${most} DESC, c.chunk_id DESC LIMIT ${HEADS_A_PAGE})`;
  const endpoints = filter.endpoints === null ? null : value(filter.endpoints);
  const pages =
    endpoints === null
      ? page('true')
      : `${page(`c.endpoint = ANY(${endpoints}::text[])`)} UNION ALL
         ${page(`c.endpoint = '' AND c.endpoints && ${endpoints}::text[]`)}`;
  const { rows } = await client.query<Head>(
    `SELECT * FROM (${pages}) AS heads ORDER BY bound DESC, chunk_id DESC LIMIT ${HEADS_A_PAGE}`,
    values,
  );
  return rows;
}

const asksE2e = ({ e2eUs }: ResolvedFilter) => e2eUs[0] > 0 || e2eUs[1] < Number.MAX_SAFE_INTEGER;

/** The packed columns that decide whether a request belongs. */
function decidingColumns(search: Search): string[] {
  const { filter } = search;
  const names = new Set(['started_at', ORDERED_BY[search.order].column]);
  if (filter.series) names.add('series');
  if (filter.attributeSets) names.add('attribute_set');
  if (filter.outcomes) names.add('outcome');
  if (asksE2e(filter)) names.add('e2e');
  const texts = [
    ...(filter.traceId === null ? [] : ['trace_ids', 'trace_texts']),
    ...(filter.sessionId === null ? [] : ['session_ids', 'session_texts']),
  ];
  return [...names, ...texts];
}

async function readColumns(client: Client, search: Search, heads: readonly Head[]): Promise<Map<string, Columns>> {
  const { rows } = await client.query<Columns>(
    `SELECT c.chunk_id, (SELECT array_agg(x.position) FROM superseded x WHERE x.project_id = c.project_id
         AND x.shard_key = c.shard_key AND x.day = c.day AND x.chunk_id = c.chunk_id) AS voided,
       ${decidingColumns(search).join(', ')}
     FROM sealed_chunk c
     WHERE project_id = $1 AND shard_key = 0 AND day = ANY($2::date[]) AND chunk_id = ANY($3::uuid[])`,
    [search.projectId, [...new Set(heads.map((h) => h.day))], heads.map((h) => h.chunk_id)],
  );
  return new Map(rows.map((row) => [row.chunk_id, row]));
}

/** Whether the i-th request of a chunk passes the filter. */
function passes(columns: Columns, filter: ResolvedFilter): (i: number) => boolean {
  const at = (name: string) => numbersOf((columns[name] as Uint8Array | null | undefined) ?? null);
  const tests: ((i: number) => boolean)[] = [];
  const oneOf = (name: string, wanted: ReadonlySet<number>) => {
    const code = at(name);
    tests.push((i) => wanted.has(code(i) ?? -1));
  };
  const equals = (packed: string, plain: string, wanted: string) => {
    const bytes = columns[packed] as Uint8Array | null;
    const text = bytes ? textsOf(bytes) : (i: number) => (columns[plain] as (string | null)[] | null)?.[i] ?? null;
    tests.push((i) => text(i) === wanted);
  };
  if (filter.attributeSets) oneOf('attribute_set', filter.attributeSets.codes);
  if (filter.series) oneOf('series', filter.series.codes);
  if (filter.outcomes) oneOf('outcome', new Set(filter.outcomes));
  if (asksE2e(filter)) {
    const [e2e, [fromUs, toUs]] = [at('e2e'), filter.e2eUs];
    tests.push((i) => e2e(i)! >= fromUs && e2e(i)! < toUs);
  }
  if (filter.traceId !== null) equals('trace_ids', 'trace_texts', filter.traceId);
  if (filter.sessionId !== null) equals('session_ids', 'session_texts', filter.sessionId);
  return (i) => tests.every((test) => test(i));
}

function searchChunk(search: Search, { head, columns, top }: { head: Head; columns: Columns; top: Top }): void {
  const { column, sign } = ORDERED_BY[search.order];
  const ordered = numbersOf(columns[column] as Uint8Array);
  const startedAt = numbersOf(columns.started_at as Uint8Array);
  const accepts = passes(columns, search.filter);
  const voided = columns.voided === null ? null : new Set(columns.voided);
  const threshold = top.threshold();
  const isSorted = head.endpoint !== '' && search.order === 'slowest';
  for (let i = 0; i < head.n; i++) {
    const value = sign * ordered(i)!;
    if (search.after !== null && value > search.after.value) continue;
    if (value < threshold) {
      if (isSorted) break;
      continue;
    }
    const startedAtUs = startedAt(i)!;
    if (startedAtUs < search.fromUs || startedAtUs >= search.toUs || !accepts(i) || voided?.has(i + 1)) continue;
    const place = { sealed: true, day: head.day, chunkId: head.chunk_id, position: i + 1 };
    top.add({ value, startedAtUs, place });
  }
}

/** Adds the sealed requests; false when the budget ran out before the walk was at its end. */
export async function searchSealed(
  client: Client,
  search: Search,
  { top, spent, limit }: { top: Top; spent: Spent; limit: number },
): Promise<boolean> {
  let heads = await headsOf(client, search, null);
  let size = FIRST_READ;
  while (heads.length > 0) {
    for (let at = 0; at < heads.length; ) {
      const some = heads.slice(at, at + size).filter((head) => Number(head.bound) >= top.threshold());
      if (some.length === 0) return true;
      if (spent.isOver() || spent.examined > limit) return false;
      const columns = await readColumns(client, search, some);
      for (const head of some) {
        const found = columns.get(head.chunk_id);
        if (found) searchChunk(search, { head, columns: found, top });
        spent.examined += head.n;
      }
      at += size;
      size = Math.min(LARGEST_READ, size * 2);
    }
    heads = heads.length < HEADS_A_PAGE ? [] : await headsOf(client, search, heads.at(-1)!);
  }
  return true;
}
