import type { PoolClient } from 'pg';
import { OUTCOMES, type Outcome } from '../core/terms';

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

/** A filter in the terms of chunks. Null: not asked about. Codes are those of sealed chunks. */
export type ResolvedFilter = {
  endpoints: readonly string[] | null;
  series: { ids: string[]; codes: ReadonlySet<number> } | null;
  attributeSets: { ids: string[]; codes: ReadonlySet<number> } | null;
  outcomes: readonly number[] | null;
  traceId: string | null;
  sessionId: string | null;
  e2eUs: readonly [number, number];
};

type Client = Pick<PoolClient, 'query'>;
type Coded = { ids: string[]; codes: ReadonlySet<number> };

function coded(rows: readonly { id: string; code: number | null }[]): Coded {
  const codes = rows.flatMap((row) => (row.code === null ? [] : [row.code]));
  return { ids: rows.map((row) => row.id), codes: new Set(codes) };
}

async function seriesOf(client: Client, { projectId, dimensions }: RequestFilter): Promise<Coded | null> {
  const used = Object.entries(dimensions).filter(([, values]) => values.length > 0);
  if (used.length === 0) return null;
  const { rows } = await client.query<{ id: string; code: number | null }>(
    `SELECT series_id::text AS id, code FROM series
     WHERE project_id = $1 AND shard_key = 0 AND ${used.map(([name], i) => `${name} = ANY($${i + 2}::text[])`).join(' AND ')}`,
    [projectId, ...used.map(([, values]) => values)],
  );
  return coded(rows);
}

async function setsOf(client: Client, { projectId, attributes }: RequestFilter): Promise<Coded | null> {
  if (Object.keys(attributes).length === 0) return null;
  const { rows } = await client.query<{ id: string; code: number | null }>(
    `SELECT id::text AS id, code FROM attribute_set
     WHERE project_id = $1 AND shard_key = 0 AND attributes @> $2::jsonb`,
    [projectId, JSON.stringify(attributes)],
  );
  return coded(rows);
}

/** The filter as ids and codes; null when no request can pass it. */
export async function resolveFilter(client: Client, filter: RequestFilter): Promise<ResolvedFilter | null> {
  const series = await seriesOf(client, filter);
  const attributeSets = await setsOf(client, filter);
  if (series?.ids.length === 0 || attributeSets?.ids.length === 0) return null;
  const { outcomes, dimensions, traceId, sessionId, minE2eUs, maxE2eUs } = filter;
  return {
    endpoints: dimensions.endpoint?.length ? dimensions.endpoint : null,
    ...{ series, attributeSets, traceId, sessionId },
    outcomes: outcomes.length === 0 ? null : outcomes.map((value) => OUTCOMES.indexOf(value)),
    e2eUs: [minE2eUs ?? 0, maxE2eUs ?? Number.MAX_SAFE_INTEGER],
  };
}
