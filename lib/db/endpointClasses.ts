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

/** Start of the newest 5 minutes with a request, or the newest request not folded yet (ms); null: never any. */
export async function newestRequestMs(projectId: string): Promise<number | null> {
  const { rows } = await pool().query<{ at: string | null }>(
    `SELECT max(at) AS at FROM (
       SELECT max(period) * 1000 AS at FROM rollup WHERE project_id = $1 AND shard_key = 0 AND grouping = 0 AND tier = 0
       UNION ALL SELECT max(last_at) / 1000 FROM pending WHERE project_id = $1 AND shard_key = 0) AS newest`,
    [projectId],
  );
  const at = rows[0]?.at ?? null;
  return at === null ? null : Number(at);
}
