import { ENDPOINT_CLASSES, type EndpointClass } from '../core/endpointClass';
import { pool } from './pool';

/** Classes that were set or guessed before, by endpoint. */
export async function loadEndpointClasses(projectId: string): Promise<Map<string, EndpointClass>> {
  const { rows } = await pool().query<{ endpoint: string; class: string }>(
    'SELECT endpoint, class FROM endpoint_class WHERE project_id = $1',
    [projectId],
  );
  const known = rows.filter((row): row is { endpoint: string; class: EndpointClass } =>
    (ENDPOINT_CLASSES as readonly string[]).includes(row.class),
  );
  return new Map(known.map((row) => [row.endpoint, row.class]));
}

/** Stores guesses; a class that somebody set is never touched. */
export async function saveGuessedClasses(
  projectId: string,
  guesses: ReadonlyMap<string, EndpointClass>,
): Promise<void> {
  await pool().query(
    `INSERT INTO endpoint_class (project_id, endpoint, class, source, updated_at)
     SELECT $1, e, c, 'guessed', now() FROM unnest($2::text[], $3::text[]) AS guess(e, c)
     ON CONFLICT (project_id, endpoint) DO UPDATE SET class = excluded.class, updated_at = excluded.updated_at
     WHERE endpoint_class.source = 'guessed' AND endpoint_class.class <> excluded.class`,
    [projectId, [...guesses.keys()], [...guesses.values()]],
  );
}

export async function allProjectIds(): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>('SELECT id FROM project ORDER BY id');
  return rows.map((row) => row.id);
}

/** Start of the newest 5 minutes with a request, or the newest request not folded yet (ms); null: never any. */
export async function newestRequestMs(projectId: string): Promise<number | null> {
  const { rows } = await pool().query<{ at: string | null }>(
    `SELECT max(at) AS at FROM (
       SELECT max(period) * 1000 AS at FROM rollup WHERE project_id = $1 AND shard_key = 0 AND grouping = 0 AND tier = 0
         AND family = 0
       UNION ALL SELECT max(last_at) / 1000 FROM pending WHERE project_id = $1 AND shard_key = 0) AS newest`,
    [projectId],
  );
  const at = rows[0]?.at ?? null;
  return at === null ? null : Number(at);
}
