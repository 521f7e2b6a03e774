// The one statement that stores requests: ledger rows, chunks and their pending rows commit together or not at all.
// A ledger key that exists raises a unique violation, which undoes the whole statement: so no chunk is ever stored
// without its key, and nothing is claimed that was not written.

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { TimedRequest } from '../core/request';
import { arrayLiteral } from './arrayLiteral';
import { UnstorableValueError } from './binaryArray';
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

const DAY_US = 86_400_000_000;
/** Statements for up to so many chunks are prepared once a connection. */
const PREPARED_CHUNKS = 8;
/** A statement takes 65,535 parameters, and a chunk more than fifty of them. */
export const MAX_CHUNKS_A_FLUSH = 800;

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

type Chunk = { projectId: string; day: string; requests: TimedRequest[] };

/** Requests by project and UTC day, in key order. */
function chunksOf(requests: Flush['requests']): Chunk[] {
  const chunks = new Map<string, Chunk>();
  let [last, lastDay] = [null as Chunk | null, -1];
  for (const { projectId, request } of requests) {
    const dayNumber = Math.floor(request.startedAtUs / DAY_US);
    if (last === null || dayNumber !== lastDay || projectId !== last.projectId) {
      const day = utcDay(request.startedAtUs);
      const key = `${projectId}/${day}`;
      last = chunks.get(key) ?? { projectId, day, requests: [] };
      lastDay = dayNumber;
      chunks.set(key, last);
    }
    last.requests.push(request);
  }
  return [...chunks.keys()].sort().map((key) => chunks.get(key)!);
}

const HEAD = 'project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at';
const HEAD_TYPES = ['uuid', 'date', 'uuid', 'integer', 'bigint', 'bigint'];

/** The statement for so many chunks; its shape depends on nothing else, so that it is planned once a connection. */
function statement(chunks: number): string {
  let at = 0;
  const param = (type: string) => `$${++at}::${type}`;
  const [p, d, k] = [param('uuid[]'), param('date[]'), param('text[]')];
  const row = () => {
    const [project, day, id, n, first, last] = HEAD_TYPES.map(param);
    const head = [project, '0::smallint', day, id, 'statement_timestamp()', n, first, last];
    return `(${[...head, ...ARRAY_COLUMNS.map((c) => param(c.type))].join(', ')})`;
  };
  const rows = Array.from({ length: chunks }, row);
  return `WITH l AS (
       INSERT INTO ledger (project_id, shard_key, day, key, received_at)
       SELECT p, 0, d, decode(k, 'hex'), statement_timestamp() FROM unnest(${p}, ${d}, ${k}) AS r(p, d, k)
     ), c AS (
       INSERT INTO hot_chunk (${HEAD}, ${ARRAY_COLUMNS.map((c) => c.name).join(', ')})
       VALUES ${rows.join(', ')} RETURNING ${HEAD}
     )
     INSERT INTO pending (project_id, shard_key, day, chunk_id, received_at, n, first_at, last_at)
     SELECT ${HEAD} FROM c`;
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
  const chunks = chunksOf(requests);
  await ensurePartitions([...chunks.map((c) => c.day), ...ledger.map((l) => l.day)]);
  await storeReferenced(references(requests));
  const sorted = [...ledger].sort((a, b) => (ledgerName(a) < ledgerName(b) ? -1 : 1));
  const values: unknown[] = [
    arrayLiteral(sorted.map((l) => l.projectId)),
    arrayLiteral(sorted.map((l) => l.day)),
    arrayLiteral(sorted.map((l) => l.key)),
  ];
  for (const { projectId, day, requests: inChunk } of chunks) {
    const { n, firstAtUs, lastAtUs, arrays } = encodeChunk(inChunk);
    values.push(projectId, day, uuidv7(), n, firstAtUs, lastAtUs, ...arrays);
  }
  const text = statement(chunks.length);
  await client.query(
    chunks.length <= PREPARED_CHUNKS ? { name: `flush ${chunks.length}`, text, values } : { text, values },
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
  if (error instanceof UnstorableValueError || /^(22|23|54)/.test(code)) return new FlushError('unstorable', error);
  forgetStored();
  return new FlushError('unavailable', error);
}
