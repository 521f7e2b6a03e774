// Inflated span bodies, the most recently used ones within a bound of bytes. Traces of a chunk close within seconds of
// each other, so most bodies are read once.

import type { Span } from '../../core/trace/span';
import { decodeSpans, type TraceEntry } from '../../db/spanChunk';
import { readSpanBodies, type SpanChunkId, type StoredSpans } from '../../db/spanStore';

const MOST_BYTES = 64 * 1024 * 1024;
const CHUNKS_A_READ = 32;

export class Bodies {
  private readonly kept = new Map<string, StoredSpans>();
  private bytes = 0;

  /** Makes sure that these chunks are here until the next call; those that retention took are not. */
  async load(projectId: string, chunks: readonly SpanChunkId[]): Promise<Map<string, StoredSpans>> {
    const loaded = new Map<string, StoredSpans>();
    const missing: SpanChunkId[] = [];
    for (const chunk of new Map(chunks.map((c) => [c.chunkId, c])).values()) {
      const stored = this.kept.get(chunk.chunkId);
      if (stored === undefined) missing.push(chunk);
      else {
        this.kept.delete(chunk.chunkId); // to the end: used last
        this.kept.set(chunk.chunkId, stored);
        loaded.set(chunk.chunkId, stored);
      }
    }
    for (let at = 0; at < missing.length; at += CHUNKS_A_READ) {
      for (const [chunkId, stored] of await readSpanBodies(projectId, missing.slice(at, at + CHUNKS_A_READ))) {
        loaded.set(chunkId, stored);
        this.kept.set(chunkId, stored);
        this.bytes += stored.bytes;
      }
    }
    for (const [chunkId, stored] of this.kept) {
      if (this.bytes <= MOST_BYTES) break;
      this.kept.delete(chunkId);
      this.bytes -= stored.bytes;
    }
    return loaded;
  }
}

/** The spans of one trace in one chunk. */
export function spansIn(stored: StoredSpans, entry: TraceEntry): Span[] {
  return decodeSpans(stored.inflated, entry);
}
