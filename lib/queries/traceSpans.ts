import type { Span } from '../core/trace/span';
import type { AssembledTrace } from '../db/assemblyStore';
import { decodeSpans } from '../db/spanChunk';
import { readSpanBodies, spanChunkId } from '../db/spanStore';

/** The distinct spans of closed traces (each with those that belong to it), by trace id; empty where retention took them. */
export async function spansOfTraces(
  projectId: string,
  traces: readonly AssembledTrace[],
): Promise<Map<string, Span[]>> {
  const chunkIds = new Set(traces.flatMap((trace) => trace.chunkIds));
  const bodies = await readSpanBodies(projectId, [...chunkIds].map(spanChunkId));
  return new Map(
    traces.map((trace): [string, Span[]] => {
      const ids = new Set([trace.traceId, ...trace.members]);
      const spans = new Map<string, Span>();
      for (const { entries, inflated } of trace.chunkIds.flatMap((id) => bodies.get(id) ?? [])) {
        for (const span of entries.filter((e) => ids.has(e.traceId)).flatMap((e) => decodeSpans(inflated, e))) {
          spans.set(`${span.traceId}/${span.spanId}`, span);
        }
      }
      return [trace.traceId, [...spans.values()]];
    }),
  );
}
