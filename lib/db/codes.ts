// Short numbers of series and attribute sets, one count a project, given at the first seal and never changed.

import type { Dimensions } from '../core/request';
import { singleton } from '../platform/singleton';
import { arrayLiteral } from './arrayLiteral';
import { pool } from './pool';
import type { Codes, Decoded } from './sealedChunk';
import { loadAttributeSets, loadSeries } from './series';

type Kind = { table: 'series' | 'attribute_set'; id: 'series_id' | 'id' };
const SERIES: Kind = { table: 'series', id: 'series_id' };
const ATTRIBUTE_SETS: Kind = { table: 'attribute_set', id: 'id' };

const CACHE_LIMIT = 200_000;

/** `project/table/code` → id. */
function idsByCode(): Map<string, string> {
  const cache = singleton('codes', () => new Map<string, string>());
  if (cache.size >= CACHE_LIMIT) cache.clear();
  return cache;
}

async function codesFor(projectId: string, wanted: { kind: Kind; ids: string[] }): Promise<Map<string, number>> {
  const { table, id } = wanted.kind;
  const codes = new Map<string, number>();
  if (wanted.ids.length === 0) return codes;
  const { rows } = await pool().query<{ id: string; code: number | null }>(
    `SELECT ${id}::text AS id, code FROM ${table}
     WHERE project_id = $1 AND shard_key = 0 AND ${id} = ANY($2::bigint[])`,
    [projectId, arrayLiteral(wanted.ids)],
  );
  const fresh: string[] = [];
  for (const row of rows) {
    if (row.code === null) fresh.push(row.id);
    else codes.set(row.id, row.code);
  }
  for (const [freshId, code] of await numberFresh(projectId, { kind: wanted.kind, ids: fresh }))
    codes.set(freshId, code);
  return codes;
}

/**
 * Numbers ids that have none. Only whoever holds the project's row of seal_state does, so max + 1 is nobody else's; in
 * short transactions of its own: an ingest that stores the same series would wait for a longer one.
 */
async function numberFresh(
  projectId: string,
  { kind: { table, id }, ids }: { kind: Kind; ids: string[] },
): Promise<[string, number][]> {
  if (ids.length === 0) return [];
  const { rows } = await pool().query<{ next: number }>(
    `SELECT coalesce(max(code), -1) + 1 AS next FROM ${table} WHERE project_id = $1 AND shard_key = 0`,
    [projectId],
  );
  const first = rows[0]!.next;
  const numbered = [...ids].sort().map((freshId, i): [string, number] => [freshId, first + i]);
  await pool().query(
    `UPDATE ${table} AS t SET code = fresh.code FROM unnest($2::bigint[], $3::integer[]) AS fresh(id, code)
     WHERE t.project_id = $1 AND t.shard_key = 0 AND t.${id} = fresh.id`,
    [projectId, arrayLiteral(numbered.map((n) => n[0])), arrayLiteral(numbered.map((n) => n[1]))],
  );
  return numbered;
}

/** The codes of these ids (decimal text); new ones are given. Only for the holder of the seal's lock. */
export async function giveCodes(
  projectId: string,
  ids: { series: Iterable<string>; attributeSets: Iterable<string> },
): Promise<Codes> {
  return {
    series: await codesFor(projectId, { kind: SERIES, ids: [...new Set(ids.series)] }),
    attributeSets: await codesFor(projectId, { kind: ATTRIBUTE_SETS, ids: [...new Set(ids.attributeSets)] }),
  };
}

/** Code → id (decimal text), from memory or one query. */
async function idsOf(projectId: string, wanted: { kind: Kind; codes: Iterable<number> }): Promise<Map<number, string>> {
  const { table, id } = wanted.kind;
  const cache = idsByCode();
  const ids = new Map<number, string>();
  const missing: number[] = [];
  for (const code of new Set(wanted.codes)) {
    const known = cache.get(`${projectId}/${table}/${code}`);
    if (known === undefined) missing.push(code);
    else ids.set(code, known);
  }
  if (missing.length === 0) return ids;
  const { rows } = await pool().query<{ id: string; code: number }>(
    `SELECT ${id}::text AS id, code FROM ${table}
     WHERE project_id = $1 AND shard_key = 0 AND code = ANY($2::integer[])`,
    [projectId, arrayLiteral(missing)],
  );
  for (const row of rows) {
    ids.set(row.code, row.id);
    cache.set(`${projectId}/${table}/${row.code}`, row.id);
  }
  return ids;
}

/** What codes mean. Without `attributeSets` the attributes of decoded requests are null. */
export async function loadCodes(
  projectId: string,
  codes: { series: Iterable<number>; attributeSets?: Iterable<number> },
): Promise<Decoded> {
  const seriesIds = await idsOf(projectId, { kind: SERIES, codes: codes.series });
  const dims = await loadSeries(projectId, seriesIds.values());
  const series = new Map<number, Dimensions>();
  for (const [code, id] of seriesIds) if (dims.has(id)) series.set(code, dims.get(id)!);
  if (codes.attributeSets === undefined) return { series };
  const setIds = await idsOf(projectId, { kind: ATTRIBUTE_SETS, codes: codes.attributeSets });
  const sets = await loadAttributeSets(projectId, setIds.values());
  const attributeSets = new Map<number, Readonly<Record<string, string>>>();
  for (const [code, id] of setIds) if (sets.has(id)) attributeSets.set(code, sets.get(id)!);
  return { series, attributeSets };
}
