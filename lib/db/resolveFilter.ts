import type { PoolClient } from 'pg';
import { FILTER_DIMENSIONS, type FilterDimension, type RequestFilter } from '../core/requestFilter';
import { OUTCOMES } from '../core/terms';

/** A filter in the terms of chunks. Null: not asked about. Codes are those of sealed chunks. */
export type ResolvedFilter = {
  endpoints: readonly string[] | null;
  series: { ids: string[]; codes: ReadonlySet<number> } | null;
  attributeSets: { ids: string[]; codes: ReadonlySet<number> } | null;
  outcomes: readonly number[] | null;
  traceId: string | null;
  sessionId: string | null;
  e2eUs: readonly [number, number];
  ttftUs: readonly [number, number] | null;
};

const COLUMN: Record<FilterDimension, string> = {
  endpoint: 'endpoint',
  clientRegion: 'client_region',
  serviceRegion: 'service_region',
  provider: 'provider',
  model: 'model',
  modelRegion: 'model_region',
  environment: 'environment',
  version: 'version',
};

type Client = Pick<PoolClient, 'query'>;
type Coded = { ids: string[]; codes: ReadonlySet<number> };

function coded(rows: readonly { id: string; code: number | null }[]): Coded {
  const codes = rows.flatMap((row) => (row.code === null ? [] : [row.code]));
  return { ids: rows.map((row) => row.id), codes: new Set(codes) };
}

async function seriesOf(client: Client, projectId: string, filter: RequestFilter): Promise<Coded | null> {
  const values: unknown[] = [projectId];
  const conditions: string[] = [];
  for (const name of FILTER_DIMENSIONS) {
    const wanted = filter[name];
    if (wanted === undefined || wanted.length === 0) continue;
    values.push(wanted.filter((value) => value !== null));
    const isTold = `${COLUMN[name]} = ANY($${values.length}::text[])`;
    conditions.push(wanted.includes(null) ? `(${isTold} OR ${COLUMN[name]} IS NULL)` : isTold);
  }
  if (filter.vantage) conditions.push(`vantage = $${values.push(filter.vantage)}`);
  if (conditions.length === 0) return null;
  const { rows } = await client.query<{ id: string; code: number | null }>(
    `SELECT series_id::text AS id, code FROM series
     WHERE project_id = $1 AND shard_key = 0 AND ${conditions.join(' AND ')}`,
    values,
  );
  return coded(rows);
}

async function setsOf(client: Client, projectId: string, filter: RequestFilter): Promise<Coded | null> {
  const wanted = filter.attributes ?? {};
  if (Object.keys(wanted).length === 0) return null;
  const { rows } = await client.query<{ id: string; code: number | null }>(
    `SELECT id::text AS id, code FROM attribute_set
     WHERE project_id = $1 AND shard_key = 0 AND attributes @> $2::jsonb`,
    [projectId, JSON.stringify(wanted)],
  );
  return coded(rows);
}

/** The filter as ids and codes; null when no request can pass it. */
export async function resolveFilter(
  client: Client,
  projectId: string,
  filter: RequestFilter,
): Promise<ResolvedFilter | null> {
  const series = await seriesOf(client, projectId, filter);
  const attributeSets = await setsOf(client, projectId, filter);
  if (series?.ids.length === 0 || attributeSets?.ids.length === 0) return null;
  const { outcome = [], endpoint = [], minTtftUs, maxTtftUs } = filter;
  const asksTtft = minTtftUs !== undefined || maxTtftUs !== undefined;
  return {
    endpoints: endpoint.length === 0 ? null : endpoint.filter((value) => value !== null),
    ...{ series, attributeSets },
    outcomes: outcome.length === 0 ? null : outcome.map((value) => OUTCOMES.indexOf(value)),
    traceId: filter.traceId ?? null,
    sessionId: filter.sessionId ?? null,
    e2eUs: [filter.minE2eUs ?? 0, filter.maxE2eUs ?? Number.MAX_SAFE_INTEGER],
    ttftUs: asksTtft ? [minTtftUs ?? 0, maxTtftUs ?? Number.MAX_SAFE_INTEGER] : null,
  };
}
