// Open traces of one project, in memory: which spans lie where, never the spans themselves. What is lost with the process
// is read again from span_pending, which names every chunk that has an open trace.
//
//   closes when                                   reason
//   its root came and 5 s passed without a span   root_settled
//   60 s passed without a span                    idle
//   it has 2,000 spans                            span_limit
//   too many traces are open: the oldest          too_many_open

import type { CloseReason } from '../../db/assemblyStore';
import type { TraceEntry } from '../../db/spanChunk';
import type { PendingSpans } from '../../db/spanStore';

export const SETTLE_MS = 5_000;
export const IDLE_MS = 60_000;
export const SPAN_LIMIT = 2_000;
const MOST_OPEN = 250_000;

type Chunk = PendingSpans & { open: number };
/** Spans of one trace in one chunk. */
export type Part = { chunk: Chunk; entry: TraceEntry };
export type OpenTrace = { parts: Part[]; spans: number; rooted: boolean; lastAtMs: number };
export type DueTrace = { traceId: string; trace: OpenTrace; reason: CloseReason };

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

  add(pending: PendingSpans, entries: readonly TraceEntry[]): void {
    if (entries.length === 0) return;
    const chunk: Chunk = { ...pending, open: entries.length };
    this.chunks.set(chunk.chunkId, chunk);
    for (const entry of entries) {
      const trace = this.traces.get(entry.traceId);
      if (trace === undefined) {
        const { spans, rooted } = entry;
        this.traces.set(entry.traceId, { parts: [{ chunk, entry }], spans, rooted, lastAtMs: chunk.receivedAtMs });
        continue;
      }
      trace.parts.push({ chunk, entry });
      trace.spans += entry.spans;
      trace.rooted ||= entry.rooted;
      trace.lastAtMs = Math.max(trace.lastAtMs, chunk.receivedAtMs);
    }
  }

  /** What is to be closed at `nowMs`, at most about `limit` spans of it, in the order the traces came. */
  due({ nowMs, limit }: { nowMs: number; limit: number }): DueTrace[] {
    const due: DueTrace[] = [];
    let spans = 0;
    let excess = this.traces.size - MOST_OPEN;
    for (const [traceId, trace] of this.traces) {
      if (spans >= limit) break;
      const reason = reasonToClose(trace, nowMs) ?? (excess-- > 0 ? 'too_many_open' : null);
      if (reason === null) continue;
      due.push({ traceId, trace, reason });
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
    for (const { traceId, trace } of closed) {
      this.traces.delete(traceId);
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
  if (trace.rooted && quietMs >= SETTLE_MS) return 'root_settled';
  return quietMs >= IDLE_MS ? 'idle' : null;
}
