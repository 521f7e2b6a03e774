// A request's trace as a person looks at it: its tree in order, each span on the root's clock, with what of the critical
// path is its own. The pieces of all rows partition the request, so own times add up to its end to end.

import type { Term } from '../terms';
import { analyseTrace, type TraceAnalysis, type TraceQuestion } from './attributeTrace';
import type { NamedTime } from './ownTime';
import { serviceOf } from './read';
import type { SpanKind, SpanStatus } from './span';
import type { Node } from './tree';

/** A stretch of the critical path; µs from the start of the request. */
export type PathPiece = { fromUs: number; toUs: number; term: Term; derived: boolean };

export type TraceRow = {
  /** Null: a wait that no span shows. */
  spanId: string | null;
  name: string;
  service: string | null;
  kind: SpanKind | null;
  status: SpanStatus | null;
  depth: number;
  /** From the start of the request, on the root's clock; µs, negative when it began before. */
  startUs: number;
  durationUs: number;
  /** Of the critical path: its own, and with everything below it; µs. */
  ownUs: number;
  subtreeUs: number;
  pieces: readonly PathPiece[];
  /** How far its stamps were moved; µs. */
  movedUs: number;
  /** Ran on after everything that waited for it had ended. */
  outlives: boolean;
};

export type ExplainedTrace = { rootSpanId: string; rows: TraceRow[]; e2eUs: number; ttftUs: number | null };

/** Every request of these spans, explained. */
export function explainTrace(question: TraceQuestion): ExplainedTrace[] {
  return analyseTrace(question).analyses.map(explain);
}

function explain(analysis: TraceAnalysis): ExplainedTrace {
  const { root, ttft } = analysis;
  const pieces = new Map<Node, PathPiece[]>();
  for (const time of timesOf(analysis)) {
    const piece = { fromUs: time.startUs - root.startUs, toUs: time.endUs - root.startUs, ...namesOf(time) };
    const own = pieces.get(time.node);
    if (own) own.push(piece);
    else pieces.set(time.node, [piece]);
  }
  const rows: TraceRow[] = [];
  addRows(root, { depth: 0, rootUs: root.startUs, pieces, rows });
  return { rootSpanId: root.span!.spanId, rows, e2eUs: root.endUs - root.startUs, ttftUs: ttft.us };
}

const namesOf = ({ term, derived }: NamedTime) => ({ term, derived });

/** The path until the first output as the wait's terms have it, and what came after as generation. */
function timesOf({ root, path, waitPath, ttft }: TraceAnalysis): NamedTime[] {
  if (ttft.us === null) return path;
  const outUs = root.startUs + ttft.us;
  const after = path.filter((time) => time.endUs > outUs);
  const rest = after.map((time): NamedTime => ({ ...time, startUs: Math.max(time.startUs, outUs), term: 'decode' }));
  return [...waitPath, ...rest];
}

type Walk = { depth: number; rootUs: number; pieces: ReadonlyMap<Node, PathPiece[]>; rows: TraceRow[] };

/** Adds a node and what is below it, in the order they began; returns the path time of all of it (µs). */
function addRows(node: Node, walk: Walk): number {
  const own = walk.pieces.get(node) ?? [];
  const ownUs = own.reduce((us, piece) => us + piece.toUs - piece.fromUs, 0);
  const at = walk.rows.length;
  walk.rows.push(rowOf(node, { ...walk, own, ownUs }));
  let subtreeUs = ownUs;
  for (const child of [...node.children].sort((a, b) => a.startUs - b.startUs)) {
    subtreeUs += addRows(child, { ...walk, depth: walk.depth + 1 });
  }
  walk.rows[at]!.subtreeUs = subtreeUs;
  return subtreeUs;
}

function rowOf(node: Node, { depth, rootUs, own, ownUs }: Walk & { own: PathPiece[]; ownUs: number }): TraceRow {
  const { span } = node;
  return {
    ...{ spanId: span?.spanId ?? null, name: span?.name ?? waitName(node), kind: span?.kind ?? null },
    ...{ service: span === null ? null : serviceOf(span), status: span?.status ?? null, depth },
    ...{ startUs: node.startUs - rootUs, durationUs: node.endUs - node.startUs, ownUs, subtreeUs: ownUs },
    ...{ pieces: own, movedUs: node.shiftUs, outlives: node.outlives },
  };
}

const WAITS: Partial<Record<Term, string>> = {
  queue: 'waiting in the queue',
  retry: 'failed attempts and back-off',
  coldStart: 'waiting for a replica to start',
};

const waitName = (node: Node) => (node.told === null ? 'waiting' : (WAITS[node.told] ?? 'waiting'));
