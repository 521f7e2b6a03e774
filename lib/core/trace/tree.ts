// Spans → trees: repeated spans once, links followed, parents found, loops broken, roots of requests chosen.

import { TURN_NAMES } from '../data/conventions';
import type { Term } from '../terms';
import type { TermRule } from './attributed';
import { classify, type Role, ruleFor, toldTerm } from './classify';
import { clockOf, hostOf, textOf } from './read';
import type { Span } from './span';

/** A span in its tree. Times are µs on the clock of the root once place.ts has been there; until then as stamped. */
export type Node = {
  /** Null for a wait that no span shows: the time a message spent in a queue, attempts that failed. */
  span: Span | null;
  role: Role;
  /** A term told by a rule or by `isochrone.term`, or by the kind of wait this is. */
  told: Term | null;
  clock: string;
  host: string | null;
  startUs: number;
  endUs: number;
  parent: Node | null;
  children: Node[];
  /** How its time relates to the parent's: the same clock, a call between processes, a message, or a wait. */
  crossing: 'none' | 'call' | 'message';
  /** False when the length of the parent's part around it is a difference of two clocks' durations. */
  sameClock: boolean;
  /** µs to add to the stamps of this node's clock. */
  shiftUs: number;
  /** Nobody waited for it: it ran on after everything above it had ended. */
  outlives: boolean;
  /** A job whose sender had answered before it began (202): somebody above collected its result later. */
  isCollected: boolean;
  /** How many failed attempts came before (on the attempt that answered). */
  failedBefore: number;
};

export type Forest = {
  roots: Node[];
  /** Spans whose parent never came. */
  orphans: number;
  /** Spans without any root. */
  rootless: number;
};

/** How far a child may stick out of its parent by rounding alone; µs. */
export const SLACK_US = 2_000;

const idOf = (span: { traceId: string; spanId: string }) => `${span.traceId}/${span.spanId}`;

/** The trees of these spans, whatever their order. */
export function buildForest(spans: readonly Span[], rules: readonly TermRule[]): Forest {
  const nodes = new Map<string, Node>();
  const ignored: Node[] = [];
  for (const span of [...spans].sort(byTime)) {
    if (nodes.has(idOf(span))) continue;
    const told = toldTerm(span, rules);
    const node = nodeOf(span, { told: told === 'ignore' ? null : told, region: ruleFor(span, rules, 'region') });
    nodes.set(idOf(span), node);
    if (told === 'ignore') ignored.push(node);
  }
  const roots: Node[] = [];
  const orphans: Node[] = [];
  for (const node of nodes.values()) {
    const parentId = parentOf(node.span!, nodes);
    if (parentId === null) roots.push(node);
    else {
      const parent = nodes.get(parentId);
      if (parent === undefined || isBelow(parent, node)) orphans.push(node);
      else hang(node, parent);
    }
  }
  if (roots.length === 0) return { roots: [], orphans: orphans.length, rootless: nodes.size };
  for (const orphan of orphans) hang(orphan, nearestRoot(orphan, roots));
  for (const node of ignored) if (node.parent) leaveToParent(node, node.parent);
  return { roots: roots.flatMap(requestRoots), orphans: orphans.length, rootless: 0 };
}

function byTime(a: Span, b: Span): number {
  return a.startUs - b.startUs || b.endUs - a.endUs || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0);
}

function nodeOf(span: Span, { told, region }: { told: Term | null; region: string | null }): Node {
  const node = waitNode({ startUs: span.startUs, endUs: Math.max(span.startUs, span.endUs) });
  node.span = region === null ? span : { ...span, resource: { ...span.resource, 'isochrone.region': region } };
  node.role = classify(span);
  node.told = told;
  node.clock = clockOf(span);
  node.host = hostOf(span);
  return node;
}

/** A node without a span. */
export function waitNode({ startUs, endUs }: { startUs: number; endUs: number }): Node {
  return {
    span: null,
    role: { is: 'work' },
    told: null,
    clock: '',
    host: null,
    startUs,
    endUs,
    parent: null,
    children: [],
    crossing: 'none',
    sameClock: true,
    shiftUs: 0,
    outlives: false,
    isCollected: false,
    failedBefore: 0,
  };
}

/** Id of the parent: as told, or for a consumer without one the producer that its first known link names. */
function parentOf(span: Span, nodes: ReadonlyMap<string, Node>): string | null {
  if (span.parentSpanId !== null) {
    const told = idOf({ traceId: span.traceId, spanId: span.parentSpanId });
    const isProducer = nodes.get(told)?.role.is === 'producer';
    if (span.kind !== 'consumer' || isProducer) return told;
    return linkedProducer(span, nodes) ?? told;
  }
  return span.kind === 'consumer' ? linkedProducer(span, nodes) : null;
}

function linkedProducer(span: Span, nodes: ReadonlyMap<string, Node>): string | null {
  const link = span.links.find((l) => nodes.get(idOf(l))?.span?.kind === 'producer' && l.spanId !== span.spanId);
  return link === undefined ? null : idOf(link);
}

function isBelow(node: Node, ancestor: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) if (at === ancestor) return true;
  return false;
}

/** Makes `node` a child of `parent`. */
export function hang(node: Node, parent: Node): void {
  if (node.parent) node.parent.children = node.parent.children.filter((child) => child !== node);
  node.parent = parent;
  parent.children.push(node);
}

/** Where a span without its parent probably belongs: the root of its trace that it lies in, else the first. */
function nearestRoot(orphan: Node, roots: readonly Node[]): Node {
  const own = roots.filter((root) => root.span?.traceId === orphan.span?.traceId);
  const around = own.find((root) => root.startUs <= orphan.startUs && orphan.endUs <= root.endUs);
  return around ?? own[0] ?? roots[0]!;
}

function leaveToParent(node: Node, parent: Node): void {
  for (const child of [...node.children]) hang(child, parent);
  parent.children = parent.children.filter((child) => child !== node);
}

/**
 * The requests below a root: itself, or the turns of a conversation, or the spans that `isochrone.endpoint` names. Their
 * ancestors are then nobody's request.
 */
function requestRoots(root: Node): Node[] {
  const found: Node[] = [];
  const look = (node: Node) => {
    for (const child of node.children) {
      const isOwn =
        TURN_NAMES.has(child.span?.name ?? '') ||
        (child.span !== null && textOf(child.span.attributes, 'isochrone.endpoint') !== null && !isServed(child));
      if (isOwn) found.push(child);
      else look(child);
    }
  };
  if (textOf(root.span!.attributes, 'isochrone.endpoint') === null) look(root);
  for (const turn of found) {
    turn.parent!.children = turn.parent!.children.filter((child) => child !== turn);
    turn.parent = null;
  }
  return found.length > 0 ? found : [root];
}

/** A server that names the endpoint of the call around it is part of that call's request. */
function isServed(node: Node): boolean {
  return node.span?.kind === 'server' && node.parent?.span?.kind === 'client';
}

/** Every node of a tree, parents before children. */
export function* walkTree(root: Node): Generator<Node> {
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]!);
  }
}
