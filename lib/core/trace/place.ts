// Where each span lies on the clock of its root, and on whom it kept waiting.
//
// Two processes need not agree on the time, so a child of another process is placed by what must be true of it:
//
//   called by a client    CLIENT |--------------------|     within its caller. As stamped (or as other spans of its clock
//                         SERVER     |-----------|          were placed) if that fits, else in the middle. Either way
//                                                           CLIENT − SERVER is a difference of durations.
//
//   fed by a queue        SERVER |-----------------------|  after its message was sent and, when the sender waits for the
//                       PRODUCER   |--|                  |  answer, before the sender's end. If, as stamped, the sender
//                       CONSUMER        wait |---------|r|  ends within REPLY of it, the clocks agree and the stamps say
//                                                           the wait; else wait = (SERVER.end − PRODUCER.start) − CONSUMER.
//
//   same process          as stamped. A child that ends after its parent belongs to the ancestor that it ends in; when
//                         there is none, nobody waited for it.
//
// JavaScript SDKs start spans at whole milliseconds and end them exactly: up to SLACK of overlap means nothing.

import { adoptConnections, readyUs } from './connections';
import { statusOf } from './read';
import { hang, type Node, SLACK_US, waitNode, walkTree } from './tree';

/** How late after a job's end its waiting sender may end for the two clocks to be taken as one; µs. */
const REPLY_US = 5_000;
/** The same for two processes of one host. */
const REPLY_ON_HOST_US = 20_000;

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
  placeMessages(messages, { placement, root });
  lift(root);
  if (!placement.queueUnknown) placement.queueUnknown = hasUnansweredProducer(root);
  return placement;
}

type Work = { placement: Placement; messages: Node[] };

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

function setShift(node: Node, shiftUs: number): void {
  if (node.span === null) return;
  node.shiftUs = shiftUs;
  node.startUs = node.span.startUs + shiftUs;
  node.endUs = Math.max(node.span.startUs, node.span.endUs) + shiftUs;
}

/** Shifts worth trying for a clock: as it was placed before, as the neighbour's, none. */
function candidates(node: Node, neighbour: Node, placement: Placement): number[] {
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

/** Ancestors of a message's producer that its consumer may have kept waiting, the innermost first. */
function waiters(message: Node): Node[] {
  const found: Node[] = [];
  for (let at = message.parent?.parent ?? null; at !== null; at = at.parent) if (at.span !== null) found.push(at);
  return found;
}

/** The last answer first: what it tells of its clock places the jobs before it. */
function placeMessages(messages: readonly Node[], { placement, root }: { placement: Placement; root: Node }): void {
  for (const message of [...messages].sort((a, b) => b.endUs - a.endUs)) placeMessage(message, { placement, root });
}

function placeMessage(message: Node, { placement, root }: { placement: Placement; root: Node }): void {
  const producer = message.parent!;
  const sentUs = producer.startUs;
  const lengthUs = message.endUs - message.startUs;
  message.sameClock = message.clock === producer.clock || isOneHost(message, producer);
  const shift = shiftOfMessage(message, placement) ?? shiftByDurations(message, { sentUs, lengthUs });
  if (shift === null) {
    placement.queueUnknown = true;
    message.outlives = true;
  } else {
    placement.toldByAnswer.set(message.clock, shift);
    if (!placement.aheadUs.has(message.clock)) placement.aheadUs.set(message.clock, -shift);
  }
  setShift(message, shift ?? sentUs - message.span!.startUs);
  message.startUs = Math.max(message.startUs, sentUs);
  message.endUs = Math.max(message.startUs, message.endUs);
  const host = waiterOf(message) ?? root;
  if (!message.outlives && message.endUs > host.endUs + SLACK_US) judgeOutliving(message, { host, root, placement });
  message.isCollected = topOfProcess(producer).endUs <= message.startUs && topOfProcess(producer) !== host;
  hang(message, host);
  if (!message.outlives) {
    const wait = waitNode({ startUs: sentUs, endUs: message.startUs });
    Object.assign(wait, { told: 'queue', crossing: 'message', sameClock: message.sameClock, clock: host.clock });
    hang(wait, host);
    // The message is on its way while its sending is still being acknowledged
    if (producer.parent !== null && producer.parent.crossing !== 'message') hang(producer, wait);
  }
  const next: Node[] = [];
  place(message, { placement, messages: next });
  placeMessages(next, { placement, root });
}

/** The innermost ancestor in which a placed message ends, else the outermost that was still there when it began. */
function waiterOf(message: Node): Node | null {
  const above = waiters(message).filter((n) => message.startUs < n.endUs);
  return above.find((n) => message.endUs <= n.endUs + SLACK_US) ?? above.at(-1) ?? null;
}

/**
 * A job that ends after all of its senders. Its tail may be its own affair (it answered, then tidied up), or it may be
 * the answer to a 202, or nobody waits for it at all: then the sender was busy with something else meanwhile.
 */
function judgeOutliving(
  message: Node,
  { host, root, placement }: { host: Node; root: Node; placement: Placement },
): void {
  const hasModel = (node: Node) => [...walkTree(node)].some((n) => n.role.is === 'call' || n.role.is === 'compute');
  if (message.startUs >= host.endUs) {
    const others = host.children.some((child) => child !== message.parent && hasModel(child));
    const isAnswer = statusOf(root.span!) === 202 || (hasModel(message) && !others);
    if (isAnswer) placement.answeredUs = Math.max(placement.answeredUs ?? 0, message.endUs);
    else message.outlives = true;
    return;
  }
  const busyUs = coveredUs(
    host.children.filter((child) => child !== message && child.role.is !== 'producer' && child.crossing !== 'message'),
    { fromUs: message.startUs, toUs: host.endUs },
  );
  message.outlives = busyUs * 2 > host.endUs - message.startUs;
}

/** Length (µs) of the union of these spans within a stretch of time. */
function coveredUs(nodes: readonly Node[], { fromUs, toUs }: { fromUs: number; toUs: number }): number {
  let covered = 0;
  let until = fromUs;
  for (const node of [...nodes].sort((a, b) => a.startUs - b.startUs)) {
    const [start, end] = [Math.max(until, node.startUs), Math.min(toUs, node.endUs)];
    if (end <= start) continue;
    covered += end - start;
    until = end;
  }
  return covered;
}

/** The sender's end minus the job's length, where the sender's own process had room to wait for it; else null. */
function shiftByDurations(message: Node, { sentUs, lengthUs }: { sentUs: number; lengthUs: number }): number | null {
  const entry = topOfProcess(message.parent!);
  if (sentUs + lengthUs > entry.endUs + REPLY_US) return null;
  return Math.max(sentUs, entry.endUs - lengthUs) - message.span!.startUs;
}

const isOneHost = (a: Node, b: Node) => a.host !== null && a.host === b.host;

/** The shift by which the stamps of a consumer agree with those of its sender, or null when they do not. */
function shiftOfMessage(message: Node, placement: Placement): number | null {
  const producer = message.parent!;
  const span = message.span!;
  if (message.clock === producer.clock) return producer.shiftUs;
  const told = placement.toldByAnswer.get(message.clock);
  if (told !== undefined && span.startUs + told >= producer.startUs - SLACK_US) return told;
  const byRoundTrips = placement.aheadUs.get(message.clock);
  const end = Math.max(span.startUs, span.endUs);
  const [earlyUs, replyUs] = isOneHost(message, producer) ? [REPLY_ON_HOST_US, REPLY_ON_HOST_US] : [SLACK_US, REPLY_US];
  for (const shift of candidates(message, producer, placement)) {
    const isAfter = span.startUs + shift >= producer.startUs - SLACK_US;
    if (!isAfter) continue;
    const fits = waiters(message).some((n) => {
      if (n.clock !== producer.clock) return false;
      const lateUs = n.endUs - (end + shift);
      return lateUs >= -earlyUs && lateUs <= replyUs;
    });
    if (fits) return shift;
  }
  // When somebody has room to wait for it, durations tell more than two clocks; else round trips, or a shared host
  if (shiftByDurations(message, { sentUs: producer.startUs, lengthUs: end - span.startUs }) !== null) return null;
  if (byRoundTrips !== undefined) return -byRoundTrips;
  return isOneHost(message, producer) && span.startUs + producer.shiftUs >= producer.startUs - SLACK_US
    ? producer.shiftUs
    : null;
}

/** The outermost span of the same process above a node. */
function topOfProcess(node: Node): Node {
  let top = node;
  while (top.parent !== null && top.parent.clock === node.clock) top = top.parent;
  return top;
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
