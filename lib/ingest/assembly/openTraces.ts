// Open traces of one project, in memory: which spans lie where, never the spans themselves. What is lost with the process
// is read again from span_pending, which names every chunk that has an open trace.
//
//   closes when                                   reason
//   its root came and 5 s passed without a span   root_settled   (or both halves of its request did)
//   60 s passed without a span                    idle
//   it has 2,000 spans                            span_limit
//   too many traces are open: the oldest          too_many_open

import type { CloseReason } from '../../db/assemblyStore';
import type { TraceEntry } from '../../db/spanChunk';
import type { PendingSpans, TraceIndex } from '../../db/spanStore';

export const SETTLE_MS = 5_000;
export const IDLE_MS = 60_000;
export const SPAN_LIMIT = 2_000;
const MOST_OPEN = 250_000;

type Chunk = PendingSpans & { open: number };
/** Spans of one trace in one chunk. */
export type Part = { chunk: Chunk; entry: TraceEntry };
export type OpenTrace = {
  traceId: string;
  /** Other traces whose consumers link to this one: they belong to its request. */
  members: string[];
  parts: Part[];
  spans: number;
  /** The root of `traceId` came. */
  rooted: boolean;
  clientHalf: boolean;
  serviceHalf: boolean;
  lastAtMs: number;
};
export type DueTrace = { trace: OpenTrace; reason: CloseReason };

const NOTHING_SEEN = { rooted: false, clientHalf: false, serviceHalf: false };

export class OpenTraces {
  private readonly chunks = new Map<string, Chunk>();
  private readonly traces = new Map<string, OpenTrace>();

  get size(): number {
    return this.traces.size;
  }

  /** True for a chunk that was added and has traces open. */
  has(chunkId: string): boolean {
    return this.chunks.has(chunkId);
  }

  /** True while a trace is open, under its own id or as part of another. */
  holds(traceId: string): boolean {
    return this.traces.has(traceId);
  }

  add(pending: PendingSpans, { entries, links }: TraceIndex): void {
    if (entries.length === 0) return;
    const chunk: Chunk = { ...pending, open: entries.length };
    this.chunks.set(chunk.chunkId, chunk);
    for (const entry of entries) {
      const trace = this.traceOf(entry.traceId);
      trace.parts.push({ chunk, entry });
      trace.spans += entry.spans;
      trace.rooted ||= entry.rooted && entry.traceId === trace.traceId;
      trace.clientHalf ||= entry.clientHalf;
      trace.serviceHalf ||= entry.serviceHalf;
      trace.lastAtMs = Math.max(trace.lastAtMs, chunk.receivedAtMs);
    }
    for (const { from, to } of links) this.join(this.traceOf(from), this.traceOf(to));
  }

  private traceOf(traceId: string): OpenTrace {
    let trace = this.traces.get(traceId);
    if (trace === undefined) {
      trace = { traceId, members: [], parts: [], spans: 0, lastAtMs: 0, ...NOTHING_SEEN };
      this.traces.set(traceId, trace);
    }
    return trace;
  }

  /** `from` becomes part of `to`, from now on one trace under both ids. */
  private join(from: OpenTrace, to: OpenTrace): void {
    if (from === to) return;
    to.parts.push(...from.parts);
    to.spans += from.spans;
    to.lastAtMs = Math.max(to.lastAtMs, from.lastAtMs);
    to.members.push(from.traceId, ...from.members);
    for (const id of [from.traceId, ...from.members]) this.traces.set(id, to);
  }

  /** What is to be closed at `nowMs`, at most about `limit` spans of it, in the order the traces came. */
  due({ nowMs, limit }: { nowMs: number; limit: number }): DueTrace[] {
    const due: DueTrace[] = [];
    let spans = 0;
    let excess = this.traces.size - MOST_OPEN;
    for (const [traceId, trace] of this.traces) {
      if (spans >= limit) break;
      if (traceId !== trace.traceId) continue; // joined: it is looked at under its own id
      const reason = reasonToClose(trace, nowMs) ?? (excess-- > 0 ? 'too_many_open' : null);
      if (reason === null) continue;
      due.push({ trace, reason });
      spans += trace.spans;
    }
    return due;
  }

  /** Chunks that have no open trace any more once these are closed. */
  doneBy(closed: readonly DueTrace[]): Chunk[] {
    const closing = new Map<Chunk, number>();
    for (const { trace } of closed) {
      for (const { chunk } of trace.parts) closing.set(chunk, (closing.get(chunk) ?? 0) + 1);
    }
    return [...closing].filter(([chunk, count]) => chunk.open === count).map(([chunk]) => chunk);
  }

  remove(closed: readonly DueTrace[]): void {
    for (const { trace } of closed) {
      for (const id of [trace.traceId, ...trace.members]) this.traces.delete(id);
      for (const { chunk } of trace.parts) {
        chunk.open--;
        if (chunk.open === 0) this.chunks.delete(chunk.chunkId);
      }
    }
  }
}

function reasonToClose(trace: OpenTrace, nowMs: number): CloseReason | null {
  if (trace.spans >= SPAN_LIMIT) return 'span_limit';
  const quietMs = nowMs - trace.lastAtMs;
  const isWhole = trace.rooted || (trace.clientHalf && (trace.serviceHalf || trace.spans > 0));
  if (isWhole && quietMs >= SETTLE_MS) return 'root_settled';
  return quietMs >= IDLE_MS ? 'idle' : null;
}
