// Closes traces: their spans → requests, stored in the transaction that marks the traces as closed.
//
// A trace that was closed before is told apart by the chunks that its row names:
//   no chunk is new      read again after a restart: nothing to do
//   new chunks           late spans: attributed again with all of them

import type { TimedRequest } from '../../core/request';
import type { AttributedTrace, AttributeTrace, TermRule } from '../../core/trace/attributed';
import type { Span } from '../../core/trace/span';
import {
  type AssembledTrace,
  assembledTraces,
  type Closing,
  type Lease,
  storeClosing,
  type TraceOutcome,
} from '../../db/assemblyStore';
import { addCounts } from '../../db/counts';
import { addDays, utcDay } from '../../db/partitions';
import { type StoredSpans, spanChunkId } from '../../db/spanStore';
import { log } from '../../platform/log';
import { type Bodies, spansIn } from './bodies';
import { type DueTrace, type OpenTraces, SPAN_LIMIT } from './openTraces';

/** What the assembly is given: attribution, and the correction of requests that roll-ups already count. */
export type AssemblyServices = {
  attribute: AttributeTrace;
};

type Context = {
  lease: Lease;
  rules: readonly TermRule[];
  bodies: Bodies;
  services: AssemblyServices;
};

type Planned = Closing & { counts: Record<string, number> };
type Counts = Record<string, number>;

const RETENTION_DAYS = 8;
const FUTURE_US = 5 * 60_000_000;
const OLD_US = 35 * 86_400_000_000;

/** Closes these traces; false, with nothing changed, when the lease is lost. */
export async function closeTraces(open: OpenTraces, due: readonly DueTrace[], context: Context): Promise<boolean> {
  const { projectId } = context.lease;
  const sinceDay = addDays(utcDay(Date.now() * 1_000), -RETENTION_DAYS);
  const known = await assembledTraces(projectId, { traceIds: due.map((d) => d.traceId), sinceDay });
  const chunks = due.flatMap(({ traceId, trace }) => [
    ...trace.parts.map((part) => part.chunk),
    ...(known.get(traceId)?.chunkIds ?? []).map(spanChunkId),
  ]);
  const stored = await context.bodies.load(projectId, chunks);
  const plan = planClosing(due, { known, stored, context });
  if (!(await storeClosing(context.lease, { ...plan, done: open.doneBy(due) }))) return false;
  open.remove(due);
  addCounts(projectId, plan.counts, Date.now());
  return true;
}

type Material = {
  known: ReadonlyMap<string, AssembledTrace>;
  stored: ReadonlyMap<string, StoredSpans>;
  context: Context;
};

function planClosing(due: readonly DueTrace[], material: Material): Planned {
  const fresh: Closing['fresh'][number][] = [];
  const again: AssembledTrace[] = [];
  const requests: TimedRequest[] = [];
  const counts: Counts = {};
  for (const closing of due) {
    const before = material.known.get(closing.traceId) ?? null;
    const gathered = gather(closing, before, material, counts);
    if (gathered === null) continue;
    const { spans, chunkIds } = gathered;
    const attributed = attributeOrNothing(spans, material.context);
    const accepted = acceptable(attributed, counts);
    const known = new Set(before?.requestIds);
    requests.push(...accepted.filter((request) => !known.has(request.id)));
    const row = {
      traceId: closing.traceId,
      reason: closing.reason,
      outcome: outcomeOf(attributed, accepted),
      spans: spans.length,
      chunkIds,
      requestIds: [...known, ...accepted.map((r) => r.id).filter((id) => !known.has(id))],
    };
    if (before === null) fresh.push(row);
    else again.push({ ...row, day: before.day, version: before.version + 1 });
    count(counts, `trace:${row.outcome}`);
    count(counts, `traceClosed:${row.reason}`);
  }
  count(counts, 'accepted', requests.length);
  return { fresh, again, requests, done: [], counts };
}

/** Attribution is total; should it fail all the same, one trace must not hold up the others. */
function attributeOrNothing(spans: readonly Span[], { services, rules }: Context): AttributedTrace {
  try {
    return services.attribute({ spans, rules });
  } catch (error) {
    log().error({ err: error, traceId: spans[0]?.traceId }, 'trace not attributed');
    return { requests: [], ignored: [] };
  }
}

/** The distinct spans of a trace with those of earlier closings; null when there is nothing new to attribute. */
function gather(
  { traceId, trace }: DueTrace,
  before: AssembledTrace | null,
  { stored }: Material,
  counts: Counts,
): { spans: Span[]; chunkIds: string[] } | null {
  const seen = new Map<string, Span>();
  const chunkIds = [...(before?.chunkIds ?? [])];
  for (const chunkId of chunkIds) {
    const chunk = stored.get(chunkId);
    const entry = chunk?.entries.find((e) => e.traceId === traceId);
    if (!chunk || !entry) return drop(counts, 'lateSpansDropped', trace.spans); // retention took what they belong to
    for (const span of spansIn(chunk, entry)) seen.set(span.spanId, span);
  }
  const earlier = seen.size;
  let duplicates = 0;
  for (const { chunk, entry } of trace.parts) {
    if (chunkIds.includes(chunk.chunkId)) continue;
    const body = stored.get(chunk.chunkId);
    if (!body) continue;
    chunkIds.push(chunk.chunkId);
    for (const span of spansIn(body, entry)) {
      if (seen.has(span.spanId)) duplicates++;
      else if (seen.size >= SPAN_LIMIT) count(counts, 'spansOverLimit');
      else seen.set(span.spanId, span);
    }
  }
  count(counts, 'duplicateSpans', duplicates);
  if (seen.size === earlier) return null;
  if (before !== null) count(counts, 'lateSpans', seen.size - earlier);
  return { spans: [...seen.values()], chunkIds };
}

/** Requests that may be stored: at times that raw takes. */
function acceptable(attributed: AttributedTrace, counts: Counts): TimedRequest[] {
  const nowUs = Date.now() * 1_000;
  return attributed.requests.flatMap(({ request }) => {
    const refused = request.startedAtUs > nowUs + FUTURE_US ? 'future' : request.startedAtUs < nowUs - OLD_US;
    if (refused === false) return request;
    count(counts, `rejected:${refused === true ? 'too_old' : refused}`);
    return [];
  });
}

function outcomeOf(attributed: AttributedTrace, accepted: readonly TimedRequest[]): TraceOutcome {
  if (accepted.length > 0) return 'requests';
  if (attributed.requests.length > 0 || attributed.ignored.length === 0) return 'refused';
  return attributed.ignored.some((ignored) => ignored.reason === 'no_request') ? 'no_request' : 'no_root';
}

function count(counts: Counts, kind: string, by = 1): void {
  if (by > 0) counts[kind] = (counts[kind] ?? 0) + by;
}

function drop(counts: Counts, kind: string, by: number): null {
  count(counts, kind, by);
  return null;
}
