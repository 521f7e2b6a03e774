import { createHash } from 'node:crypto';
import { arrayLiteral } from './arrayLiteral';
import { pool } from './pool';

/** One post in the ledger. `key` is 64 hex digits; `day` the UTC day of its smallest startedAt as sent. */
export type LedgerEntry = { projectId: string; day: string; key: string };

/** The ledger key of an Idempotency-Key (hex). */
export function keyOfIdempotencyKey(idempotencyKey: string): string {
  return createHash('sha256').update(`key\0${idempotencyKey}`).digest('hex');
}

/** The ledger key of a post without an Idempotency-Key: digest of its ids in order (hex). */
export function keyOfIds(ids: readonly string[]): string {
  const hash = createHash('sha256').update('ids');
  for (const id of ids) hash.update(`\0${id}`); // ids hold no NUL
  return hash.digest('hex');
}

/** Text that is equal for equal entries. */
export function ledgerName(entry: LedgerEntry): string {
  return `${entry.projectId}/${entry.day}/${entry.key}`;
}

/** Which of these posts are stored already, by `ledgerName`. */
export async function knownPosts(entries: readonly LedgerEntry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const { rows } = await pool().query<{ project_id: string; day: string; key: string }>(
    `SELECT project_id, day::text AS day, encode(key, 'hex') AS key
     FROM ledger JOIN unnest($1::uuid[], $2::date[], $3::text[]) AS r(p, d, k)
       ON project_id = p AND shard_key = 0 AND day = d AND key = decode(k, 'hex')`,
    [
      arrayLiteral(entries.map((e) => e.projectId)),
      arrayLiteral(entries.map((e) => e.day)),
      arrayLiteral(entries.map((e) => e.key)),
    ],
  );
  return new Set(rows.map((r) => ledgerName({ projectId: r.project_id, day: r.day, key: r.key })));
}
