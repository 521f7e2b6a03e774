// The one statement that stores requests: ledger rows, chunks and their pending rows commit together or not at all.
// A ledger key that exists raises a unique violation, which undoes the whole statement: so no chunk is ever stored
// without its key, and nothing is claimed that was not written.

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { TimedRequest } from '../core/request';
import { arrayLiteral } from './arrayLiteral';
import { ARRAY_COLUMNS, encodeChunk } from './chunk';
import { type LedgerEntry, ledgerName } from './ledger';
import { ensurePartitions, forgetPartitions, utcDay } from './partitions';
import { pool } from './pool';
import { forgetStored, type Referenced, storeReferenced } from './series';

/** What goes wrong: the post is known (look it up), the data cannot be stored, or the database is not there. */
export type FlushFailure = 'known_post' | 'unstorable' | 'unavailable';

export class FlushError extends Error {
  readonly failure: FlushFailure;
  constructor(failure: FlushFailure, cause: unknown) {
    super(`flush failed: ${failure}`, { cause });
    this.name = 'FlushError';
    this.failure = failure;
  }
}

export type Flush = { requests: readonly { projectId: string; request: TimedRequest }[]; ledger: LedgerEntry[] };

/**
 * Stores requests (one chunk a project and UTC day) and ledger entries in one transaction; they are committed when it
 * returns. Throws FlushError.
 */
export async function flush({ requests, ledger }: Flush): Promise<void> {
  try {
    await attemptFlush(requests, ledger);
  } catch (error) {
    // 23514: no partition for the row. What was known of the database is wrong: forget it, make them, once more.
    if ((error as { code?: string }).code !== '23514') throw classify(error);
    forgetPartitions();
    forgetStored();
    await attemptFlush(requests, ledger).catch((again: unknown) => {
      throw classify(again);
    });
  }
}

/** The same statement in the caller's transaction, for requests whose uniqueness that transaction sees to itself. */
export async function flushWithin(client: Pick<PoolClient, 'query'>, requests: Flush['requests']): Promise<void> {
  await attemptFlush(requests, [], client);
}

async function attemptFlush(
  requests: Flush['requests'],
  ledger: LedgerEntry[],
  client: Pick<PoolClient, 'query'> = pool(),
): Promise<void> {
  const chunks = new Map<string, { projectId: string; day: string; requests: TimedRequest[] }>();
  for (const { projectId, request } of requests) {
    const day = utcDay(request.startedAtUs);
    const key = `${projectId}/${day}`;
    const chunk = chunks.get(key);
    if (chunk) chunk.requests.push(request);
    else chunks.set(key, { projectId, day, requests: [request] });
  }
  await ensurePartitions([...[...chunks.values()].map((c) => c.day), ...ledger.map((l) => l.day)]);
  await storeReferenced(references(requests));
  const params: unknown[] = [];
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const rows = [...chunks.keys()].sort().map((key) => {
    const { projectId, day, requests: inChunk } = chunks.get(key)!;
    const { n, firstAtUs, lastAtUs, arrays } = encodeChunk(inChunk);
    const head = [
      param(projectId, 'uuid'),
      '0::smallint',
      param(day, 'date'),
      param(uuidv7(), 'uuid'),
      'statement_timestamp()',
      param(n, 'integer'),
      param(firstAtUs, 'bigint'),
      param(lastAtUs, 'bigint'),
    ];
    const body = ARRAY_COLUMNS.map((c, i) => (arrays[i] === null ? `NULL::${c.type}` : param(arrays[i], c.type)));
    return `(${[...head, ...body].join(', ')})`;
  });
  const sorted = [...ledger].sort((a, b) => (ledgerName(a) < ledgerName(b) ? -1 : 1));
  const [p, d, k] = [
    param(arrayLiteral(sorted.map((l) => l.projectId)), 'uuid[]'),
    param(arrayLiteral(sorted.map((l) => l.day)), 'date[]'),
    param(arrayLiteral(sorted.map((l) => l.key)), 'text[]'),
  ];
  const head = 'project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at';
  await client.query(
    `WITH l AS (
       INSERT INTO ledger (project_id, shard_key, day, key, received_at)
       SELECT p, 0, d, decode(k, 'hex'), statement_timestamp() FROM unnest(${p}, ${d}, ${k}) AS r(p, d, k)
     ), c AS (
       INSERT INTO hot_chunk (${head}, ${ARRAY_COLUMNS.map((c) => c.name).join(', ')})
       VALUES ${rows.join(', ')} RETURNING ${head}
     )
     INSERT INTO pending (project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at)
     SELECT ${head} FROM c`,
    params,
  );
}

function* references(requests: Flush['requests']): Iterable<Referenced> {
  for (const { projectId, request } of requests) {
    yield { projectId, dims: request.dims, attributes: request.attributes };
  }
}

/** SQLSTATE → failure. Class 22 and the limits of class 54 are the data's fault; whatever is unknown may pass later. */
function classify(error: unknown): FlushError {
  const { code = '', table = '' } = error as { code?: string; table?: string };
  if (code === '23505' && table.startsWith('ledger')) return new FlushError('known_post', error);
  if (/^(22|23|54)/.test(code)) return new FlushError('unstorable', error);
  forgetStored();
  return new FlushError('unavailable', error);
}
