// Keys of roll-up cells: written in the transaction that writes the cells, read through a cache. A key never changes, so
// what is cached is never stale; only committed keys are cached.

import type { PoolClient } from 'pg';
import { cellId } from '../core/block';
import { type CellKey, parseKey } from '../core/cell';
import { singleton } from '../platform/singleton';
import { pool } from './pool';

export type KnownKey = { text: string; key: CellKey };
type ProjectKeys = Map<number, KnownKey>;

const CACHED_PROJECTS = 64;
const CACHED_KEYS = 500_000;

function cacheOf(projectId: string): ProjectKeys {
  const projects = singleton('cellKeys', () => new Map<string, ProjectKeys>());
  let keys = projects.get(projectId);
  if (keys === undefined || keys.size > CACHED_KEYS) {
    if (projects.size >= CACHED_PROJECTS) projects.clear();
    keys = new Map();
    projects.set(projectId, keys);
  }
  return keys;
}

const SELECT =
  'SELECT id::text AS id, key FROM cell_key WHERE project_id = $1 AND shard_key = 0 AND id = ANY($2::bigint[])';
type Row = { id: string; key: string };

/**
 * The keys behind ids. `client` must see committed rows only (a pool, or a transaction that writes none): what it finds
 * is cached. The map is the cache itself: more than was asked for.
 */
export async function loadCellKeys(
  client: Pick<PoolClient, 'query'>,
  projectId: string,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, KnownKey>> {
  const cache = cacheOf(projectId);
  const missing = [...ids].filter((id) => !cache.has(id));
  if (missing.length === 0) return cache;
  const { rows } = await client.query<Row>(SELECT, [projectId, missing]);
  for (const row of rows) cache.set(Number(row.id), { text: row.key, key: parseKey(row.key) });
  return cache;
}

/** Key texts inside a transaction, with those that it wrote itself. */
export async function keyTexts(
  client: PoolClient,
  projectId: string,
  ids: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const cache = cacheOf(projectId);
  const texts = new Map<number, string>();
  const missing: number[] = [];
  for (const id of ids) {
    const known = cache.get(id);
    if (known) texts.set(id, known.text);
    else missing.push(id);
  }
  if (missing.length === 0) return texts;
  const { rows } = await client.query<Row>(SELECT, [projectId, missing]);
  for (const row of rows) texts.set(Number(row.id), row.key);
  return texts;
}

/** Stores the keys that are new. */
export async function saveCellKeys(client: PoolClient, projectId: string, keys: Iterable<string>): Promise<void> {
  const byId = new Map<number, string>();
  for (const key of keys) byId.set(cellId(key), key);
  const known = await loadCellKeys(pool(), projectId, byId.keys());
  const missing = [...byId].filter(([id]) => !known.has(id)).sort(([a], [b]) => a - b);
  if (missing.length === 0) return;
  await client.query(
    `INSERT INTO cell_key (project_id, shard_key, id, key)
     SELECT $1, 0, i, k FROM unnest($2::bigint[], $3::text[]) AS new(i, k) ON CONFLICT DO NOTHING`,
    [projectId, missing.map(([id]) => id), missing.map(([, key]) => key)],
  );
}

/** Forgets a project's keys, when it is removed. */
export function forgetCellKeys(projectId: string): void {
  singleton('cellKeys', () => new Map<string, ProjectKeys>()).delete(projectId);
}
