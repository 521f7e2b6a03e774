// Where each span lies on the clock of its root, and on whom it kept waiting.
//
// Two processes need not agree on the time, so a child of another process is placed by what must be true of it:
//
//   called by a client    CLIENT |--------------------|     within its caller. As stamped (or as other spans of its clock
//                         SERVER     |-----------|          were placed) if that fits, else in the middle. Either way
//                                                           CLIENT − SERVER is a difference of durations.
//
//   fed by a queue        messages.ts
//
//   same process          as stamped. A child that ends after its parent belongs to the ancestor that it ends in; when
//                         there is none, nobody waited for it.
//
// JavaScript SDKs start spans at whole milliseconds and end them exactly: up to SLACK of overlap means nothing.

import { adoptConnections, readyUs } from './connections';
import { placeMessages } from './messages';
import { hang, type Node, SLACK_US } from './tree';

export type Placement = {
  /** Clock → µs that it runs ahead of the root's. */
  aheadUs: Map<string, number>;
  /** The same for clocks that a message's answer has told; µs to add. */
  toldByAnswer: Map<string, number>;
  /** A message was sent whose consumer is not seen, or whose wait no clock tells. */
  queueUnknown: boolean;
  /** The answer was collected after the root had ended (202): the end of the work that made it; else null. */
  answeredUs: number | null;
};

/** Places a whole tree in place. Parents come before their children. */
export function placeTree(root: Node): Placement {
  const placement: Placement = {
    aheadUs: new Map([[root.clock, 0]]),
    toldByAnswer: new Map(),
    queueUnknown: false,
    answeredUs: null,
  };
  const messages: Node[] = [];
  place(root, { placement, messages });
  placeMessages(messages, { placement, root, place });
  placement.queueUnknown ||= hasUnansweredProducer(root);
  lift(root);
  return placement;
}

/** What placing goes on with: the messages found are placed when the calls around them are. */
export type Work = { placement: Placement; messages: Node[] };

function place(node: Node, work: Work): void {
  adoptConnections(node);
  for (const child of [...node.children].sort((a, b) => a.startUs - b.startUs)) {
    if (child.span?.kind === 'consumer' && child.role.is === 'entry') {
      child.crossing = 'message';
      work.messages.push(child);
      continue;
    }
    child.sameClock = child.clock === node.clock;
    if (isServed(child, node)) child.crossing = 'call';
    if (child.sameClock) setShift(child, node.shiftUs);
    else placeCall(child, node, work.placement);
    place(child, work);
  }
}

/** True when the child is the far side of a call: a SERVER below a CLIENT, or a span that another process made */
function isServed(child: Node, node: Node): boolean {
  if (child.span?.kind === 'server' && (node.span?.kind === 'client' || child.clock !== node.clock)) return true;
  return child.clock !== node.clock && node.span?.kind === 'client';
}

/** Puts a node where its stamps are by the root's clock. */
export function setShift(node: Node, shiftUs: number): void {
  if (node.span === null) return;
  node.shiftUs = shiftUs;
  node.startUs = node.span.startUs + shiftUs;
  node.endUs = Math.max(node.span.startUs, node.span.endUs) + shiftUs;
}

/** Shifts worth trying for a clock: as it was placed before, as the neighbour's, none. */
export function candidates(node: Node, neighbour: Node, placement: Placement): number[] {
  const known = placement.aheadUs.get(node.clock);
  return [...(known === undefined ? [] : [-known]), neighbour.shiftUs, 0];
}

function placeCall(child: Node, node: Node, placement: Placement): void {
  const span = child.span!;
  const [start, end] = [span.startUs, Math.max(span.startUs, span.endUs)];
  // Nobody can serve before the connection is there, unless it must have been so to fit
  const readyAt = readyUs(node);
  const fromUs = node.endUs - readyAt >= end - start ? readyAt : node.startUs;
  const fitting = candidates(child, node, placement).find(
    (shift) => start + shift >= fromUs - SLACK_US && end + shift <= node.endUs + SLACK_US,
  );
  const roomUs = Math.max(0, node.endUs - fromUs - (end - start));
  // What rounding makes stick out is moved in, so that it costs neither side its length
  const shift =
    fitting === undefined
      ? Math.round(fromUs + roomUs / 2 - start)
      : Math.max(fromUs - start, Math.min(fitting, fromUs + roomUs - start));
  setShift(child, shift);
  if (!placement.aheadUs.has(child.clock)) placement.aheadUs.set(child.clock, -shift);
}

/** Children that end after their parent move to the ancestor they end in. */
function lift(node: Node): void {
  for (const child of [...node.children]) {
    lift(child);
    if (child.endUs <= node.endUs + SLACK_US || child.crossing === 'call' || child.crossing === 'message') continue;
    let above = node.parent;
    while (above !== null && child.endUs > above.endUs + SLACK_US) above = above.parent;
    if (above !== null) hang(child, above);
    else child.outlives = true;
  }
}

function hasUnansweredProducer(node: Node): boolean {
  if (node.role.is === 'producer' && node.parent?.crossing !== 'message') return true;
  return node.children.some(hasUnansweredProducer);
}
