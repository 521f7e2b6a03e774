// Group commit of spans: posts that arrive while a flush runs share the next one. A post is answered after its COMMIT.
// Nothing is deduplicated here: a span that comes twice is recognised by (traceId, spanId) when its trace is closed.

import type { Half } from '../../core/trace/mergeHalves';
import { replicaStartsOf } from '../../core/trace/replicas';
import type { Span } from '../../core/trace/span';
import { encodeSpans } from '../../db/spanChunk';
import { insertSpanChunks } from '../../db/spanStore';
import { AnswerError } from '../../platform/errors';
import { log } from '../../platform/log';
import { singleton } from '../../platform/singleton';

type Waiting = {
  projectId: string;
  spans: readonly Span[];
  halves: readonly Half[];
  resolve: () => void;
  reject: (error: AnswerError) => void;
};

const MAX_QUEUED_SPANS = 120_000;
const MAX_FLUSH_SPANS = 10_000;
/** Exporters give up after 10 s and lose the batch; an answer before that lets them send it again. */
const PATIENCE_MS = 7_000;

function state() {
  return singleton('append spans', () => ({
    waiting: [] as Waiting[],
    queuedSpans: 0,
    running: null as Promise<void> | null,
  }));
}

/**
 * Stores spans, and which stored requests are halves of one; resolves after COMMIT. Throws AnswerError 429 (queue full)
 * or 503 (no database, or too slow).
 */
export async function appendSpans(
  projectId: string,
  spans: readonly Span[],
  halves: readonly Half[] = [],
): Promise<void> {
  const size = spans.length + halves.length;
  if (size === 0) return;
  const s = state();
  if (s.queuedSpans > 0 && s.queuedSpans + size > MAX_QUEUED_SPANS) {
    throw busy(429, 'queue_full', 'Too many spans are waiting to be written.');
  }
  s.queuedSpans += size;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(busy(503, 'slow', 'The database takes too long.')), PATIENCE_MS);
      s.waiting.push({ projectId, spans, halves, resolve, reject });
      s.running ??= run();
    });
  } finally {
    clearTimeout(timer);
    s.queuedSpans -= size;
  }
}

/** Resolves when everything queued so far is answered. */
export async function appendSpansIdle(): Promise<void> {
  while (state().running) await state().running;
}

async function run(): Promise<void> {
  const { waiting } = state();
  while (waiting.length > 0) {
    const group: Waiting[] = [];
    let size = 0;
    while (waiting.length > 0 && (group.length === 0 || size + sizeOf(waiting[0]!) <= MAX_FLUSH_SPANS)) {
      const next = waiting.shift()!;
      size += sizeOf(next);
      group.push(next);
    }
    await store(group);
  }
  state().running = null; // in the same breath as the look at `waiting`: a later one would miss posts that came between
}

const sizeOf = ({ spans, halves }: Waiting) => spans.length + halves.length;

/** Writes a group and answers every post in it. Never throws. */
async function store(group: readonly Waiting[]): Promise<void> {
  const byProject = new Map<string, { spans: Span[]; halves: Half[] }>();
  for (const { projectId, spans, halves } of group) {
    const all = byProject.get(projectId) ?? { spans: [], halves: [] };
    for (const span of spans) all.spans.push(span);
    for (const half of halves) all.halves.push(half);
    byProject.set(projectId, all);
  }
  try {
    const chunks = [...byProject].sort(([a], [b]) => (a < b ? -1 : 1));
    await insertSpanChunks(
      await Promise.all(
        chunks.map(async ([projectId, { spans, halves }]) => ({
          ...{ projectId, spans: await encodeSpans(spans, halves) },
          replicaStarts: replicaStartsOf(spans),
        })),
      ),
    );
    for (const { resolve } of group) resolve();
  } catch (error) {
    log().warn({ err: error, posts: group.length }, 'spans not stored');
    for (const { reject } of group) reject(busy(503, 'database_unavailable', 'The database does not answer.'));
  }
}

function busy(status: 429 | 503, code: string, message: string): AnswerError {
  const hint = 'Send the same batch again.';
  return new AnswerError({ status, code, message, hint, retryAfterS: 1 + (Date.now() % 3) });
}
