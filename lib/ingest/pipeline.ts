// The order of the write path: validate → attribute → append → count.

import type { Vantage } from '../core/terms';
import type { Half } from '../core/trace/mergeHalves';
import { addCounts, noteKey } from '../db/counts';
import { keyOfIdempotencyKey, keyOfIds, type LedgerEntry } from '../db/ledger';
import { addDays, utcDay } from '../db/partitions';
import { singleton } from '../platform/singleton';
import { append, type Post } from './append';
import { type AttributeNote, attribute } from './attribute';
import { InternTable } from './intern';
import { appendSpans } from './otlp/appendSpans';
import { UnreadableLine } from './receive';
import { type Refused, type Rejection, type RejectReason, type Validated, validate } from './validate';

/** Disjoint, adding up to the batch. */
export type IngestAnswer = { accepted: number; duplicates: number; rejected: Rejection[] };

export type Batch = {
  projectId: string;
  keyId: string;
  defaultVantage: Vantage;
  items: readonly unknown[];
  idempotencyKey: string | null;
  /** When the client says it sent this; µs since the epoch. */
  sentAtUs: number | null;
  receivedAtUs: number;
};

type Kind = AttributeNote | 'late' | 'unknownFields' | `rejected:${RejectReason}`;
type Prepared = {
  requests: Post['requests'];
  /** The smallest startedAt as sent, and the newest as corrected; µs since the epoch. */
  asSentUs: number;
  newestUs: number;
  rejected: Rejection[];
  counts: Map<Kind, number>;
};

const SKEW_US = 2_000_000;
const MAX_ID_SHOWN = 64;

/** Stores what is valid of a batch; resolves after COMMIT. Throws AnswerError when nothing was stored for all of it. */
export async function ingest(batch: Batch): Promise<IngestAnswer> {
  const skewUs = batch.sentAtUs === null ? 0 : batch.receivedAtUs - batch.sentAtUs;
  const skewed = Math.abs(skewUs) > SKEW_US;
  const prepared = prepare(batch, skewed ? skewUs : 0);
  const { accepted, duplicates } = await append({
    projectId: batch.projectId,
    requests: prepared.requests,
    ledger: ledgerEntry(batch, prepared),
  });
  await appendSpans(batch.projectId, [], halvesOf(prepared.requests));
  const kinds: Record<string, number> = { ...Object.fromEntries(prepared.counts), accepted, duplicate: duplicates };
  if (accepted === 0)
    for (const kind of ['late', 'inconsistent', 'noStreamObserved', 'unknownFields']) delete kinds[kind];
  else if (skewed) kinds.skewed = accepted;
  const receivedAtMs = batch.receivedAtUs / 1_000;
  addCounts(batch.projectId, kinds, receivedAtMs);
  noteKey(batch.projectId, {
    keyId: batch.keyId,
    newestEventMs: accepted === 0 ? null : Math.floor(prepared.newestUs / 1_000),
    receivedAtMs: Math.floor(receivedAtMs),
    skewMs: skewed ? Math.round(skewUs / 1_000) : null,
  });
  return { accepted, duplicates, rejected: prepared.rejected };
}

const TRACE_ID = /^[0-9a-f]{32}$/;

/** Requests with a trace id of OpenTelemetry's: another vantage may tell the rest of them, or spans may. */
function halvesOf(requests: Post['requests']): Half[] {
  return requests.flatMap(({ id, startedAtUs, traceId, dims: { vantage } }) => {
    if (vantage === 'probe' || traceId === null || !TRACE_ID.test(traceId)) return [];
    return { traceId, id, startedAtUs, vantage };
  });
}

function prepare(batch: Batch, skewUs: number): Prepared {
  const intern = singleton('intern', () => new InternTable());
  const counts = new Map<Kind, number>();
  const count = (kind: Kind, by = 1) => counts.set(kind, (counts.get(kind) ?? 0) + by);
  const rejected: Rejection[] = [];
  const requests: Post['requests'][number][] = [];
  let asSentUs = Number.POSITIVE_INFINITY;
  let newestUs = 0;
  batch.items.forEach((item, index) => {
    const checked = check(item, { nowUs: batch.receivedAtUs, skewUs });
    if (!checked.ok) {
      count(`rejected:${checked.reason}`);
      rejected.push({ index, ...idOf(item), path: checked.path, message: checked.message });
      return;
    }
    const { request, notes } = attribute(checked.event, {
      startedAtUs: checked.startedAtUs,
      defaultVantage: batch.defaultVantage,
      intern,
    });
    for (const note of notes) count(note);
    if (checked.late) count('late');
    if (checked.unknownFields > 0) count('unknownFields', checked.unknownFields);
    asSentUs = Math.min(asSentUs, checked.sentAtUs);
    newestUs = Math.max(newestUs, checked.startedAtUs);
    requests.push(request);
  });
  return { requests, asSentUs, newestUs, rejected, counts };
}

function check(item: unknown, clock: { nowUs: number; skewUs: number }): Validated | Refused {
  if (!(item instanceof UnreadableLine)) return validate(item, clock);
  return { ok: false, reason: 'invalid', path: '', message: item.message };
}

function idOf(item: unknown): { id?: string } {
  const id = typeof item === 'object' && item !== null ? (item as { id?: unknown }).id : undefined;
  return typeof id === 'string' ? { id: id.slice(0, MAX_ID_SHOWN) } : {};
}

/**
 * The post's place in the ledger: its key and the UTC day of its smallest startedAt as sent, so that a re-send whose
 * clock was corrected differently still meets it. A clock that is years off stays within the days that have partitions.
 */
function ledgerEntry(batch: Batch, prepared: Prepared): LedgerEntry | null {
  if (prepared.requests.length === 0) return null;
  if (batch.idempotencyKey === null && batch.items.length === 1) return null;
  const key =
    batch.idempotencyKey === null
      ? keyOfIds(prepared.requests.map((r) => r.id))
      : keyOfIdempotencyKey(batch.idempotencyKey);
  const today = utcDay(batch.receivedAtUs);
  const [first, last] = [addDays(today, -36), addDays(today, 1)];
  const day = utcDay(Math.max(0, prepared.asSentUs));
  const clamped = [first, day, last].sort()[1]!; // ISO days sort as text
  return { projectId: batch.projectId, day: clamped, key };
}
