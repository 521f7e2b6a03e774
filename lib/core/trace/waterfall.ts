// The rows of a request's page: every span of its tree in the order of the tree, with its place, its own time, what of it
// the answer waited for, and what that is called. Waits that no span shows are rows of their own.

import type { Evidence, Outcome, Term } from '../terms';
import { analyseTrace, type TraceAnalysis, type TraceQuestion } from './attributeTrace';
import { outcomeOf } from './describe';
import type { NamedTime } from './ownTime';
import { serviceOf } from './read';
import type { SpanKind } from './span';
import { type Node, walkTree } from './tree';

/** Offsets and durations in µs; offsets from the start of the request, on the clock of its root. */
export type WaterfallRow = {
  /** Null for a wait that no span shows: `name` is then its term. */
  spanId: string | null;
  /** Row of the parent as the request was read (a queue hangs from who waited for it), null for the root. */
  parent: number | null;
  depth: number;
  name: string;
  service: string | null;
  kind: SpanKind | null;
  startUs: number;
  durationUs: number;
  /** Time of the span that no child covers. */
  ownUs: number;
  /** Time on the critical path: its own, and with everything below it. */
  ownPathUs: number;
  subtreePathUs: number;
  /** Its own stretches of the critical path. */
  segments: { startUs: number; endUs: number; term: Term; evidence: Evidence }[];
  /** What most of its own time on the path is; null off the path. */
  term: Term | null;
  evidence: Evidence;
  isError: boolean;
  /** How many attempts failed before this one answered. */
  failedBefore: number;
  /** It ran on after the answer: nobody waited for it. */
  outlives: boolean;
  /** µs that the clock of its host runs ahead of the root's, as far as the trace tells; its own stamps are off by it. */
  skewUs: number | null;
};

export type Waterfall = {
  rootSpanId: string;
  e2eUs: number;
  /** Offset of the first output, null when none is known. */
  ttftUs: number | null;
  outcome: Outcome;
  rows: WaterfallRow[];
};

/** The rows of every request of these spans. */
export function waterfallsOf(question: TraceQuestion): Waterfall[] {
  return analyseTrace(question).analyses.map((analysis) => {
    const { root, ttft, placement } = analysis;
    const nodes = [...walkInTime(root)];
    const at = new Map(nodes.map((node, i) => [node, i]));
    const segments = byNode(timesOf(analysis));
    const rows = nodes.map((node) =>
      rowOf(node, { root, at, times: segments.get(node) ?? [], ahead: placement.aheadUs }),
    );
    // Children follow their parents, so that sums go up from the end
    for (let i = rows.length - 1; i > 0; i--) rows[rows[i]!.parent!]!.subtreePathUs += rows[i]!.subtreePathUs;
    return {
      rootSpanId: root.span!.spanId,
      e2eUs: root.endUs - root.startUs,
      ttftUs: ttft.us,
      outcome: outcomeOf(root),
      rows,
    };
  });
}

/** The path as the request's terms have it: what they name until the first output, and generation from there on. */
function timesOf({ root, path, waitPath, ttft }: TraceAnalysis): NamedTime[] {
  if (ttft.us === null) return path;
  const outUs = root.startUs + ttft.us;
  const after = path.filter((time) => time.endUs > outUs);
  const rest = after.map((time): NamedTime => ({ ...time, startUs: Math.max(time.startUs, outUs), term: 'decode' }));
  return [...waitPath, ...rest];
}

function* walkInTime(root: Node): Generator<Node> {
  for (const node of walkTree(root)) node.children.sort((a, b) => a.startUs - b.startUs || a.endUs - b.endUs);
  yield* walkTree(root);
}

function byNode(path: readonly NamedTime[]): Map<Node, NamedTime[]> {
  const found = new Map<Node, NamedTime[]>();
  for (const time of path) {
    const times = found.get(time.node);
    if (times === undefined) found.set(time.node, [time]);
    else times.push(time);
  }
  return found;
}

type Place = {
  root: Node;
  at: ReadonlyMap<Node, number>;
  times: readonly NamedTime[];
  ahead: ReadonlyMap<string, number>;
};

function rowOf(node: Node, { root, at, times, ahead }: Place): WaterfallRow {
  const { span } = node;
  const segments = times.map(({ startUs, endUs, term, derived }) => ({
    startUs: startUs - root.startUs,
    endUs: endUs - root.startUs,
    term,
    evidence: derived ? ('derived' as const) : ('measured' as const),
  }));
  const ownPathUs = segments.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
  return {
    spanId: span?.spanId ?? null,
    parent: node.parent === null ? null : (at.get(node.parent) ?? null),
    depth: depthOf(node),
    name: span?.name ?? node.told ?? '',
    service: span === null ? null : serviceOf(span),
    kind: span?.kind ?? null,
    startUs: node.startUs - root.startUs,
    durationUs: node.endUs - node.startUs,
    ownUs: ownUs(node),
    ownPathUs,
    subtreePathUs: ownPathUs,
    segments,
    term: largestTerm(segments),
    evidence:
      segments.length === 0 ? 'missing' : segments.some((s) => s.evidence === 'derived') ? 'derived' : 'measured',
    isError: span?.status === 'error',
    failedBefore: node.failedBefore,
    outlives: node.outlives,
    skewUs: ahead.get(node.clock) ?? null,
  };
}

function depthOf(node: Node): number {
  let depth = 0;
  for (let at = node.parent; at !== null; at = at.parent) depth++;
  return depth;
}

/** A span's length without the union of its children. */
function ownUs(node: Node): number {
  let covered = 0;
  let until = node.startUs;
  for (const child of [...node.children].sort((a, b) => a.startUs - b.startUs)) {
    const [start, end] = [Math.max(until, child.startUs), Math.min(node.endUs, child.endUs)];
    if (end <= start) continue;
    covered += end - start;
    until = end;
  }
  return node.endUs - node.startUs - covered;
}

function largestTerm(segments: WaterfallRow['segments']): Term | null {
  const sums = new Map<Term, number>();
  for (const { term, startUs, endUs } of segments) sums.set(term, (sums.get(term) ?? 0) + endUs - startUs);
  return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
