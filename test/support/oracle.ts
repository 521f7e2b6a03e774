// An independent answer to "what would each lever gain": plain SQL over the view timed_request, sharing no code with the
// product. Floors are absolute, so that the arithmetic fits one statement.
import type { TestDatabase } from './database';

export const ORACLE_LEVERS = {
  geography: 'network_us',
  connection: 'connection_us',
  queue: 'queue_us',
  routing: 'routing_us',
  coldStart: 'cold_start_us',
  retry: 'retry_us',
  modelHop: 'model_hop_us',
} as const;
export type OracleLever = keyof typeof ORACLE_LEVERS;
const QS = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99', p999: '0.999' } as const;
type OracleQuantile = keyof typeof QS;

/** µs at each quantile; `n` counts requests. `wait` and `joint` stand beside the levers. */
export type OracleAnswer = {
  n: number;
  streams: boolean;
  atUs: Record<OracleLever | 'wait' | 'joint', Record<OracleQuantile, number>>;
};

/** The wait of a request, as docs/architecture.md defines it. */
const waitOf = (streams: boolean) =>
  streams
    ? `CASE WHEN ttft_us IS NOT NULL THEN ttft_us WHEN outcome = 'ok' THEN NULL ELSE e2e_us END`
    : `CASE WHEN outcome = 'cancelled' AND ttft_us IS NOT NULL THEN NULL ELSE e2e_us END`;

const POPULATION = `project_id = $1 AND endpoint = $2 AND client_region IS NOT DISTINCT FROM $3 AND vantage = 'client'
  AND outcome <> 'error' AND coalesce(cache, 'none') NOT IN ('response', 'semantic')`;

/** Exact gains of one cell: nearest rank over cumulated weights, request by request. */
export async function askOracle(
  database: TestDatabase,
  cell: { projectId: string; endpoint: string; clientRegion: string | null; floorsMs: Record<OracleLever, number> },
): Promise<OracleAnswer> {
  const values = [cell.projectId, cell.endpoint, cell.clientRegion];
  const [kind] = await database.query<{ share: number }>(
    `SELECT (count(ttft_us)::float8 / count(*)) AS share FROM timed_request
     WHERE project_id = $1 AND endpoint = $2 AND outcome = 'ok' AND vantage = 'client'`,
    [cell.projectId, cell.endpoint],
  );
  const streams = kind!.share >= 0.6;
  const saved = (lever: OracleLever) =>
    `least(wait, greatest(0, coalesce(${ORACLE_LEVERS[lever]}, 0) - ${Math.round(cell.floorsMs[lever] * 1000)}))`;
  const levers = Object.keys(ORACLE_LEVERS) as OracleLever[];
  const options = [
    `('wait', wait)`,
    `('joint', greatest(0, wait - ${levers.map(saved).join(' - ')}))`,
    ...levers.map((lever) => `('${lever}', wait - ${saved(lever)})`),
  ];
  const rows = await database.query<{ option: OracleLever; n: number } & Record<OracleQuantile, number>>(
    `WITH told AS (SELECT *, ${waitOf(streams)} AS wait FROM timed_request WHERE ${POPULATION}),
       each AS (
         SELECT option, us, weight, sum(weight) OVER (PARTITION BY option ORDER BY us) AS upto,
           sum(weight) OVER (PARTITION BY option) AS total
         FROM told, LATERAL (VALUES ${options.join(', ')}) AS o(option, us) WHERE wait IS NOT NULL)
     SELECT option, count(*)::int AS n,
       ${Object.entries(QS)
         .map(([name, q]) => `(min(us) FILTER (WHERE upto >= ${q} * total))::float8 AS ${name}`)
         .join(', ')}
     FROM each GROUP BY option`,
    values,
  );
  const atUs = Object.fromEntries(rows.map((row) => [row.option, row])) as unknown as OracleAnswer['atUs'];
  return { n: rows[0]!.n, streams, atUs };
}
