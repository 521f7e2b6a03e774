// The critical path of a placed tree: which span, at each moment, was the one that the answer waited for.
//
// Walked back from the end: the child that ends last before the cursor, then the one that ends last before that one
// began. What no child covers is the parent's own. Children that touch follow each other; a child that is still running
// at the cursor counts up to it, so overlapping children share no moment; a span of no length is nobody's wait.
//
//   parent |--------------------------------|
//   a        |------|                              path: own a own c own
//   b           |------|
//   c                    |---------|        b ended before c began, but later than a: own, a until b began, b, …
//
// The pieces partition the root exactly, whatever the spans say.

import { type Node, SLACK_US } from './tree';

/** A stretch of the path: a child's, or the node's own (`child` null). */
export type Piece = { child: Node | null; startUs: number; endUs: number };

/** A stretch of a node's own time on the path of the whole request; µs on the root's clock. */
export type OwnTime = {
  node: Node;
  startUs: number;
  endUs: number;
  /** The child that the path was in before, if any. */
  after: Node | null;
};

/** The pieces of a node between two moments, in order. */
export function piecesOf(node: Node, { fromUs, toUs }: { fromUs: number; toUs: number }): Piece[] {
  // By end, the last one on top: what has begun at or after the cursor is done with, as the cursor only goes back
  const left = node.children
    .filter((child) => !child.outlives && child.startUs < Math.min(toUs, child.endUs) && child.endUs > fromUs)
    .sort((a, b) => a.endUs - b.endUs);
  const pieces: Piece[] = [];
  let cursor = toUs;
  while (cursor > fromUs) {
    while (left.length > 0 && left.at(-1)!.startUs >= cursor) left.pop();
    const next = lastBefore(left, cursor);
    if (next === null) break;
    const endUs = Math.min(next.endUs, cursor);
    const startUs = Math.max(next.startUs, fromUs);
    if (endUs < cursor) pieces.push({ child: null, startUs: endUs, endUs: cursor });
    pieces.push({ child: next, startUs, endUs });
    cursor = startUs;
  }
  if (cursor > fromUs) pieces.push({ child: null, startUs: fromUs, endUs: cursor });
  return pieces.reverse();
}

/** The child that was still at work last before the cursor, of children ordered by their end. */
function lastBefore(children: readonly Node[], cursor: number): Node | null {
  let best: Node | null = null;
  for (let i = children.length - 1; i >= 0; i--) {
    const child = children[i]!;
    if (best !== null && Math.min(child.endUs, cursor) < Math.min(best.endUs, cursor)) break;
    if (child.startUs < cursor && (best === null || isLater(child, best, cursor))) best = child;
  }
  return best;
}

function isLater(a: Node, b: Node, cursor: number): boolean {
  const [endA, endB] = [Math.min(a.endUs, cursor), Math.min(b.endUs, cursor)];
  if (endA !== endB) return endA > endB;
  // Both reach the cursor: by rounding the one that ends last came last; beyond rounding the one nearest to it
  const [isRoundedA, isRoundedB] = [a.endUs <= cursor + SLACK_US, b.endUs <= cursor + SLACK_US];
  if (isRoundedA !== isRoundedB) return isRoundedA;
  if (a.endUs !== b.endUs) return isRoundedA ? a.endUs > b.endUs : a.endUs < b.endUs;
  return a.startUs !== b.startUs && a.startUs < b.startUs;
}

/** The path of a whole tree: own times that partition it. */
export function criticalPath(root: Node): OwnTime[] {
  const path: OwnTime[] = [];
  collect(root, { fromUs: root.startUs, toUs: root.endUs, cutUs: Number.POSITIVE_INFINITY }, path);
  return path;
}

/**
 * The path until a first output at `cutUs` (µs on the root's clock). Between processes the output travels back as long as
 * the end of the answer did, so the way back of every call it came through is on this path too:
 *
 *   CLIENT |-------------------------------|
 *   SERVER     |----------out--------------|···      in |-- SERVER until out --| way back |
 */
export function pathUntil(root: Node, cutUs: number): OwnTime[] {
  const path: OwnTime[] = [];
  collect(root, { fromUs: root.startUs, toUs: root.endUs, cutUs }, path);
  return path;
}

type Range = { fromUs: number; toUs: number; cutUs: number };

function collect(node: Node, range: Range, into: OwnTime[]): void {
  const pieces = piecesOf(node, range);
  const last = pieces.findLast((piece) => piece.child !== null);
  let after: Node | null = null;
  for (const piece of pieces) {
    const { child, startUs } = piece;
    if (startUs >= range.cutUs) return;
    const endUs = Math.min(piece.endUs, range.cutUs);
    if (child === null) {
      into.push({ node, startUs, endUs, after });
      continue;
    }
    after = child;
    const backUs = piece === last ? wayBackUs(node, child) : 0;
    const cutUs = range.cutUs - backUs;
    if (cutUs >= piece.endUs) {
      collect(child, { fromUs: startUs, toUs: piece.endUs, cutUs: Number.POSITIVE_INFINITY }, into);
      continue;
    }
    const reachedUs = Math.max(startUs, Math.min(piece.endUs, cutUs));
    if (reachedUs > startUs) collect(child, { fromUs: startUs, toUs: piece.endUs, cutUs: reachedUs }, into);
    const arrivedUs = Math.min(range.cutUs, node.endUs);
    if (backUs > 0 && arrivedUs > reachedUs) into.push({ node, startUs: reachedUs, endUs: arrivedUs, after });
    return;
  }
}

/** How long an answer took from a child's end to its parent's, between processes; µs. */
export function wayBackUs(node: Node, child: Node): number {
  return child.crossing === 'none' || child.span === null ? 0 : Math.max(0, node.endUs - child.endUs);
}

/** Work after a streamed answer that is no reason to think it was held back: acknowledging a job; µs. */
const TIDYING_US = 10_000;

/**
 * When the user had an output that a node gave at `atUs`, or null when what came after the node had to be waited for
 * first: then its output was not yet the user's.
 */
export function arrivalUs(node: Node, atUs: number): number | null {
  let at = atUs;
  for (let child = node, parent = node.parent; parent !== null; child = parent, parent = parent.parent) {
    const pieces = piecesOf(parent, { fromUs: parent.startUs, toUs: parent.endUs });
    const own = pieces.findLastIndex((piece) => piece.child === child);
    if (own === -1) return null;
    const later = pieces.slice(own + 1).filter((piece) => piece.child !== null);
    if (later.reduce((sum, piece) => sum + piece.endUs - piece.startUs, 0) > TIDYING_US) return null;
    if (later.length === 0) at += wayBackUs(parent, child);
  }
  return at;
}
