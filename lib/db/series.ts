// Series and attribute sets: rows named by a 63-bit hash of their content, so writing needs no sequence and no look-up,
// and a cached row can never go stale.

import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Dimensions } from '../core/request';
import type { Vantage } from '../core/terms';
import { singleton } from '../platform/singleton';
import { arrayLiteral } from './arrayLiteral';
import type { Words } from './binaryArray';
import { pool } from './pool';

type Attributes = Readonly<Record<string, string>>;

const CACHE_LIMIT = 100_000;

/** An id of 63 bits: as decimal text, and as two words for binary arrays. */
export type Id63 = Words & { text: string };

/**
 * Caches of ids by content and by object (the write path shares one object among equal ones), of what is known to be
 * stored in each project, and of rows by `project/id`. Cleared when full.
 */
function caches() {
  return singleton('series', () => ({
    ids: new Map<string, Id63>(),
    byObject: new Map<object, Id63>(),
    stored: new Map<string, Stored>(),
    series: new Map<string, Dimensions>(),
    attributeSets: new Map<string, Attributes>(),
  }));
}

/** Ids that one project has, as text. */
type Stored = { series: Set<string>; sets: Set<string> };

function bounded<T extends { size: number; clear(): void }>(cache: T): T {
  if (cache.size >= CACHE_LIMIT) cache.clear();
  return cache;
}

function storedOf(projectId: string): Stored {
  const { stored } = caches();
  let one = stored.get(projectId);
  if (one === undefined || one.series.size + one.sets.size >= CACHE_LIMIT) {
    one = { series: new Set(), sets: new Set() };
    if (stored.size >= 1_000) stored.clear();
    stored.set(projectId, one);
  }
  return one;
}

function hash63(text: string): Id63 {
  const known = caches().ids.get(text);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(text).digest();
  const bits = digest.readBigUInt64BE(0) & 0x7fff_ffff_ffff_ffffn;
  const id = { text: bits.toString(), high: digest.readInt32BE(0) & 0x7fff_ffff, low: digest.readInt32BE(4) };
  bounded(caches().ids).set(text, id);
  return id;
}

const COLUMNS = [
  ['endpoint', 'endpoint'],
  ['vantage', 'vantage'],
  ['environment', 'environment'],
  ['version', 'version'],
  ['client_region', 'clientRegion'],
  ['service_region', 'serviceRegion'],
  ['provider', 'provider'],
  ['model', 'model'],
  ['model_region', 'modelRegion'],
] as const;

function idOf<T extends object>(content: T, textOf: (content: T) => string): Id63 {
  const { byObject } = caches();
  let id = byObject.get(content);
  if (id === undefined) {
    id = hash63(textOf(content));
    bounded(byObject).set(content, id);
  }
  return id;
}

const textOfSeries = (dims: Dimensions) => JSON.stringify(COLUMNS.map(([, field]) => dims[field]));

function textOfAttributes(attributes: Attributes): string {
  const sorted = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `attributes${JSON.stringify(sorted)}`;
}

/** Series id of a combination of dimensions. */
export const seriesWords = (dims: Dimensions): Id63 => idOf(dims, textOfSeries);

/** Id of a set of attributes, whatever the order of its keys. */
export const attributeSetWords = (attributes: Attributes): Id63 => idOf(attributes, textOfAttributes);

/** The same as decimal text. */
export const seriesId = (dims: Dimensions): string => seriesWords(dims).text;
export const attributeSetId = (attributes: Attributes): string => attributeSetWords(attributes).text;

/** What is to be known of one project before its chunks are written. */
export type Referenced = { projectId: string; dims: Dimensions; attributes: Attributes | null };

/** Stores the series and attribute sets that are new, sorted by key (no deadlocks). Committed when it returns. */
export async function storeReferenced(rows: Iterable<Referenced>): Promise<void> {
  const series = new Map<string, Referenced & { id: string }>();
  const sets = new Map<string, { projectId: string; id: string; attributes: Attributes }>();
  let [projectId, stored] = ['', storedOf('')];
  for (const row of rows) {
    if (row.projectId !== projectId) [projectId, stored] = [row.projectId, storedOf(row.projectId)];
    const id = seriesId(row.dims);
    if (!stored.series.has(id)) series.set(`${projectId}/${id}`, { ...row, id });
    if (row.attributes === null) continue;
    const setId = attributeSetId(row.attributes);
    if (!stored.sets.has(setId))
      sets.set(`${projectId}/${setId}`, { projectId, id: setId, attributes: row.attributes });
  }
  if (series.size > 0) await insertSeries([...series.keys()].sort().map((key) => series.get(key)!));
  if (sets.size > 0) await insertAttributeSets([...sets.keys()].sort().map((key) => sets.get(key)!));
  for (const one of series.values()) storedOf(one.projectId).series.add(one.id);
  for (const one of sets.values()) storedOf(one.projectId).sets.add(one.id);
}

/** Whether this process knows a series (decimal text) to be stored. */
export function isKnownSeries(projectId: string, id: string): boolean {
  return storedOf(projectId).series.has(id);
}

/** Finds out which of these series are stored; `isKnownSeries` then says so. */
export async function loadKnownSeries(projectId: string, ids: Iterable<string>): Promise<void> {
  const stored = storedOf(projectId);
  const asked = [...new Set(ids)].filter((id) => !stored.series.has(id));
  if (asked.length === 0) return;
  const { rows } = await pool().query<{ id: string }>(
    `SELECT series_id::text AS id FROM series WHERE project_id = $1 AND shard_key = 0 AND series_id = ANY($2::bigint[])`,
    [projectId, arrayLiteral(asked)],
  );
  for (const { id } of rows) stored.series.add(id);
}

/** How many series a project was first seen with on this UTC day (YYYY-MM-DD) or later. */
export async function countSeriesSince(projectId: string, day: string): Promise<number> {
  const { rows } = await pool().query<{ n: string }>(
    'SELECT count(*) AS n FROM series WHERE project_id = $1 AND shard_key = 0 AND first_day >= $2::date',
    [projectId, day],
  );
  return Number(rows[0]!.n);
}

/** Forgets what is known to be stored: after a write failed, another database may be behind the same address. */
export function forgetStored(): void {
  caches().stored.clear();
}

async function insertSeries(rows: (Referenced & { id: string })[]): Promise<void> {
  const names = COLUMNS.map(([name]) => name).join(', ');
  await pool().query(
    `INSERT INTO series (project_id, shard_key, series_id, ${names}, first_day)
     SELECT p, 0, id, ${names}, (now() AT TIME ZONE 'UTC')::date
     FROM unnest($1::uuid[], $2::bigint[], ${COLUMNS.map((_, i) => `$${i + 3}::text[]`).join(', ')}) AS r(p, id, ${names})
     ON CONFLICT DO NOTHING`,
    [
      arrayLiteral(rows.map((r) => r.projectId)),
      arrayLiteral(rows.map((r) => r.id)),
      ...COLUMNS.map(([, field]) => arrayLiteral(rows.map((r) => r.dims[field]))),
    ],
  );
}

async function insertAttributeSets(rows: { projectId: string; id: string; attributes: Attributes }[]): Promise<void> {
  await pool().query(
    `INSERT INTO attribute_set (project_id, shard_key, id, attributes)
     SELECT p, 0, id, attributes::jsonb FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS r(p, id, attributes)
     ON CONFLICT DO NOTHING`,
    [
      arrayLiteral(rows.map((r) => r.projectId)),
      arrayLiteral(rows.map((r) => r.id)),
      arrayLiteral(rows.map((r) => JSON.stringify(r.attributes))),
    ],
  );
}

type Queryable = Pick<pg.Pool, 'query'>;

/** Rows by id (decimal text): from a cache, what is missing there by one query. Ids that do not exist are absent. */
async function loadCached<T>(
  question: { projectId: string; ids: Iterable<string>; cache: Map<string, T> },
  load: (missing: string) => Promise<[string, T][]>,
): Promise<Map<string, T>> {
  const { projectId, cache } = question;
  const found = new Map<string, T>();
  const missing: string[] = [];
  for (const id of new Set(question.ids)) {
    const known = cache.get(`${projectId}/${id}`);
    if (known) found.set(id, known);
    else missing.push(id);
  }
  if (missing.length === 0) return found;
  for (const [id, value] of await load(arrayLiteral(missing))) {
    found.set(id, value);
    bounded(cache).set(`${projectId}/${id}`, value);
  }
  return found;
}

/** Series id → dimensions. */
export function loadSeries(
  projectId: string,
  ids: Iterable<string>,
  db: Queryable = pool(),
): Promise<Map<string, Dimensions>> {
  return loadCached({ projectId, ids, cache: caches().series }, async (missing) => {
    const { rows } = await db.query<Record<string, string | null> & { series_id: string }>(
      `SELECT series_id::text AS series_id, ${COLUMNS.map(([name]) => name).join(', ')}
       FROM series WHERE project_id = $1 AND shard_key = 0 AND series_id = ANY($2::bigint[])`,
      [projectId, missing],
    );
    return rows.map((row) => [row.series_id, dimensionsOf(row)]);
  });
}

function dimensionsOf(row: Record<string, string | null>): Dimensions {
  const dims = Object.fromEntries(COLUMNS.map(([name, field]) => [field, row[name] ?? null]));
  return dims as Record<string, string | null> & { endpoint: string; vantage: Vantage } as Dimensions;
}

/** Attribute set id → attributes. */
export function loadAttributeSets(projectId: string, ids: Iterable<string>): Promise<Map<string, Attributes>> {
  return loadCached({ projectId, ids, cache: caches().attributeSets }, async (missing) => {
    const { rows } = await pool().query<{ id: string; attributes: Attributes }>(
      'SELECT id::text AS id, attributes FROM attribute_set WHERE project_id = $1 AND shard_key = 0 AND id = ANY($2::bigint[])',
      [projectId, missing],
    );
    return rows.map((row) => [row.id, row.attributes]);
  });
}

/** Every combination of dimensions a project has ever sent. */
export async function loadAllSeries(projectId: string): Promise<Dimensions[]> {
  const { rows } = await pool().query<Record<string, string | null>>(
    `SELECT ${COLUMNS.map(([name]) => name).join(', ')} FROM series WHERE project_id = $1 AND shard_key = 0`,
    [projectId],
  );
  return rows.map(dimensionsOf);
}
