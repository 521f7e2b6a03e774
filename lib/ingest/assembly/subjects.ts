// What a closing is about: due traces with what was closed of them before, and the spans of all of it.
//
// A trace that was closed before is told apart by the chunks that its row names:
//   no chunk is new      read again after a restart: nothing to do
//   new chunks           late spans: attributed again with all of them
// A trace whose consumer was sent its message in another one belongs to the request of that one.

import type { Half } from '../../core/trace/mergeHalves';
import type { Span } from '../../core/trace/span';
import { type AssembledTrace, assembledTraces, type CloseReason } from '../../db/assemblyStore';
import { addDays, utcDay } from '../../db/partitions';
import { type SpanChunkId, type StoredSpans, spanChunkId } from '../../db/spanStore';
import { spansIn } from './bodies';
import { type DueTrace, type Part, SPAN_LIMIT } from './openTraces';

const RETENTION_DAYS = 8;

export type Subject = {
  /** The trace whose root is the request. */
  traceId: string;
  /** It and those that belong to it. */
  ids: Set<string>;
  before: AssembledTrace | null;
  /** Rows of others of `ids` that were closed before. */
  membersBefore: AssembledTrace[];
  parts: Part[];
  reason: CloseReason;
};

export type Gathered = {
  /** Distinct by trace and span id. */
  spans: Span[];
  /** Distinct by id. */
  halves: Half[];
  chunkIds: string[];
  /** How many spans and halves earlier closings had. */
  earlier: number;
  duplicates: number;
  overLimit: number;
};

/** One subject a request, in the order of `due`. */
export async function findSubjects(projectId: string, due: readonly DueTrace[]): Promise<Subject[]> {
  const sinceDay = addDays(utcDay(Date.now() * 1_000), -RETENTION_DAYS);
  const look = (traceIds: Iterable<string>) => assembledTraces(projectId, { traceIds: [...traceIds], sinceDay });
  const known = await look(due.flatMap(({ trace }) => [trace.traceId, ...trace.members]));
  const hosts = [...known.values()].flatMap((row) => row.joinedTo ?? []).filter((id) => !known.has(id));
  for (const [id, row] of await look(hosts)) known.set(id, row);
  const guests = [...known.values()].flatMap((row) => row.members).filter((id) => !known.has(id));
  for (const [id, row] of await look(guests)) known.set(id, row);
  const subjects = new Map<string, Subject>();
  for (const { trace, reason } of due) {
    const traceId = known.get(trace.traceId)?.joinedTo ?? trace.traceId;
    const before = known.get(traceId) ?? null;
    const subject = subjects.get(traceId) ?? {
      ...{ traceId, ids: new Set([traceId, ...(before?.members ?? [])]), before },
      ...{ membersBefore: [], parts: [], reason },
    };
    for (const id of [trace.traceId, ...trace.members]) subject.ids.add(id);
    subject.parts.push(...trace.parts);
    subjects.set(traceId, subject);
  }
  for (const subject of subjects.values()) {
    for (const id of subject.ids) {
      const row = known.get(id);
      if (row && id !== subject.traceId) subject.membersBefore.push(row);
    }
  }
  return [...subjects.values()];
}

/** The chunks that hold spans of a subject. */
export function chunksOf({ before, membersBefore, parts }: Subject): SpanChunkId[] {
  const closed = [...(before?.chunkIds ?? []), ...membersBefore.flatMap((row) => row.chunkIds)];
  return [...parts.map((part) => part.chunk), ...closed.map(spanChunkId)];
}

/** The spans of a subject; null when retention took those it was closed with. `stored` holds its chunks. */
export function gatherSpans(subject: Subject, stored: ReadonlyMap<string, StoredSpans>): Gathered | null {
  const included = new Set(subject.before?.chunkIds);
  const seen = new Map<string, Span>();
  const halves = new Map<string, Half>();
  const gathered: Gathered = {
    spans: [],
    halves: [],
    chunkIds: [...included],
    earlier: 0,
    duplicates: 0,
    overLimit: 0,
  };
  for (const chunkId of included) {
    const chunk = stored.get(chunkId);
    if (!chunk) return null;
    for (const span of spansOf(chunk, subject.ids)) seen.set(`${span.traceId}/${span.spanId}`, span);
    for (const half of halvesOf(chunk, subject.ids)) halves.set(half.id, half);
  }
  gathered.earlier = seen.size + halves.size;
  const joining = subject.membersBefore.flatMap((row) => row.chunkIds);
  const fresh = new Set([...subject.parts.map((part) => part.chunk.chunkId), ...joining]);
  for (const chunkId of fresh) {
    const chunk = stored.get(chunkId);
    if (included.has(chunkId) || !chunk) continue;
    gathered.chunkIds.push(chunkId);
    for (const half of halvesOf(chunk, subject.ids)) halves.set(half.id, half);
    for (const span of spansOf(chunk, subject.ids)) {
      const id = `${span.traceId}/${span.spanId}`;
      if (seen.has(id)) gathered.duplicates++;
      else if (seen.size >= SPAN_LIMIT) gathered.overLimit++;
      else seen.set(id, span);
    }
  }
  gathered.spans = [...seen.values()];
  gathered.halves = [...halves.values()];
  return gathered;
}

const halvesOf = (chunk: StoredSpans, traceIds: ReadonlySet<string>) =>
  chunk.halves.filter((half) => traceIds.has(half.traceId));

function spansOf(chunk: StoredSpans, traceIds: ReadonlySet<string>): Span[] {
  return chunk.entries.filter((entry) => traceIds.has(entry.traceId)).flatMap((entry) => spansIn(chunk, entry));
}
