// Where a job lies that came through a queue, and on whom it kept waiting.
//
//   SERVER   |-----------------------|    It lies after its message was sent and, when the sender waits for the answer,
//   PRODUCER   |--|                  |    before the sender's end. If, as stamped, the sender ends within REPLY of it, the
//   CONSUMER        wait |---------|r|    clocks agree and the stamps say the wait; else
//                                         wait = (SERVER.end − PRODUCER.start) − CONSUMER.
//
//   SERVER   |-----------------|          A worker goes on for a while after it has answered: it tells the broker, takes
//   CONSUMER      |--------------|        the next job. That tail is nobody's; the answer left between the end of the job's
//   chat          |----------|ttt|        last named work and its own end.
//
// Only spans of the sender's own process can wait for the answer itself. Whoever called that process has its answer when
// the sender ends, and can but collect the result later (202).

import { candidates, type Placement, setShift, type Work } from './place';
import { statusOf, textOf } from './read';
import { hang, type Node, SLACK_US, waitNode, walkTree } from './tree';

/** How late after a job's end its waiting sender may end for the two clocks to be taken as one; µs. */
const REPLY_US = 5_000;
/** The same for two processes of one host. */
const REPLY_ON_HOST_US = 20_000;
/** Broker commands that wait for something. */
const BLOCKING = /^(bl|br|bz|xread|subscribe|psubscribe|wait)/i;

type Placing = { placement: Placement; root: Node; place: (node: Node, work: Work) => void };

/** Places jobs and all below them. The last answer first: what it tells of its clock places the jobs before it. */
export function placeMessages(messages: readonly Node[], placing: Placing): void {
  for (const message of [...messages].sort((a, b) => b.endUs - a.endUs)) placeMessage(message, placing);
}

function placeMessage(message: Node, placing: Placing): void {
  const { placement, root } = placing;
  const producer = message.parent!;
  const sentUs = producer.startUs;
  message.sameClock = message.clock === producer.clock || isOneHost(message, producer);
  const shift = shiftOfMessage(message, placement) ?? shiftByDurations(message, sentUs);
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
  const waiter = waiterOf(message);
  if (waiter === null && !message.outlives) {
    if (isAnswerOf(root, message)) placement.answeredUs = Math.max(placement.answeredUs ?? 0, message.endUs);
    else message.outlives = true;
  }
  const host = waiter ?? root;
  message.isCollected = waiter !== null && !isWithin(waiter, topOfProcess(producer));
  hang(message, host);
  if (!message.outlives) {
    const wait = waitNode({ startUs: sentUs, endUs: message.startUs });
    Object.assign(wait, { told: 'queue', crossing: 'message', sameClock: message.sameClock, clock: host.clock });
    hang(wait, host);
    // The message is on its way while its sending is still being acknowledged
    if (producer.parent !== null && producer.parent.crossing !== 'message') hang(producer, wait);
  }
  const messages: Node[] = [];
  placing.place(message, { placement, messages });
  placeMessages(messages, placing);
}

/** Spans around a message's sending, the innermost first. */
function spansAround(message: Node): Node[] {
  const found: Node[] = [];
  for (let at = message.parent?.parent ?? null; at !== null; at = at.parent) if (at.span !== null) found.push(at);
  return found;
}

/** The outermost span of the same process above a node. */
function topOfProcess(node: Node): Node {
  let top = node;
  while (top.parent !== null && top.parent.clock === node.clock) top = top.parent;
  return top;
}

function isWithin(node: Node, top: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) if (at === top) return true;
  return false;
}

/** Who waited for a placed job: in the sender's process, else who was there to collect its result; null for nobody. */
function waiterOf(message: Node): Node | null {
  const entry = topOfProcess(message.parent!);
  const around = spansAround(message).filter((node) => message.startUs < node.endUs);
  const holder = around.find((node) => message.endUs <= node.endUs + SLACK_US && !isCaller(node, entry));
  if (holder !== undefined && isWithin(holder, entry)) return holder;
  if (around.includes(entry) && hasWaited(entry, message)) return entry;
  return holder ?? around.findLast((node) => !isWithin(node, entry) && !isCaller(node, entry)) ?? null;
}

/** True for the CLIENT span whose call the sender's process served: its wait is over when that process answers. */
function isCaller(node: Node, entry: Node): boolean {
  return entry.crossing === 'call' && entry.parent === node && node.span?.kind === 'client';
}

/** Whether a sender that ended before its job did so because it had its answer, or had waited for it in vain. */
function hasWaited(entry: Node, message: Node): boolean {
  const lengthUs = entry.endUs - message.startUs;
  const others = entry.children.filter((child) => child !== message && isBusy(child));
  const busyUs = coveredUs(others, { fromUs: message.startUs, toUs: entry.endUs });
  if (busyUs * 2 > lengthUs) return false;
  const isAnswered = message.endUs - tailUs(message) <= entry.endUs + SLACK_US;
  return isAnswered || hasFailed(entry) || lengthUs * 2 >= message.endUs - message.startUs;
}

/** True for what a sender does beside waiting for its jobs. */
function isBusy({ role, crossing, span }: Node): boolean {
  if (role.is === 'producer' || crossing === 'message') return false;
  return span === null || textOf(span.attributes, 'db.system.name', 'db.system') === null || !BLOCKING.test(span.name);
}

const hasFailed = ({ span }: Node) => span !== null && (span.status === 'error' || (statusOf(span) ?? 0) >= 400);

/** How long a job went on after its last named work, when it may have answered already; µs, 0 when nothing is named. */
function tailUs(message: Node): number {
  let lastUs: number | null = null;
  for (const { role, clock, span } of walkTree(message)) {
    const isNamed = role.is === 'call' || role.is === 'compute' || role.is === 'tool' || role.is === 'retrieval';
    if (isNamed && span !== null && clock === message.clock) lastUs = Math.max(lastUs ?? 0, span.endUs);
  }
  return lastUs === null ? 0 : Math.max(0, message.span!.endUs - lastUs);
}

/** True when a job that nobody is seen to wait for is all the same what the request was about: the work behind a 202. */
function isAnswerOf(root: Node, message: Node): boolean {
  const others = root.children.some((child) => child !== message.parent && hasModel(child));
  return statusOf(root.span!) === 202 || (hasModel(message) && !others);
}

const hasModel = (node: Node) => [...walkTree(node)].some((n) => n.role.is === 'call' || n.role.is === 'compute');

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

/**
 * The sender's end minus the job's length, where the sender's own process had room to wait for its answer; else null. A
 * job that only fits without its tail began at the earliest when it was sent, at the latest in time to answer: between.
 */
function shiftByDurations(message: Node, sentUs: number): number | null {
  const entry = topOfProcess(message.parent!);
  const lengthUs = message.endUs - message.startUs;
  const latestUs = entry.endUs - (lengthUs - tailUs(message));
  if (sentUs > latestUs + REPLY_US) return null;
  const wholeUs = entry.endUs - lengthUs;
  const startUs = wholeUs >= sentUs ? wholeUs : Math.max(sentUs, Math.round((sentUs + latestUs) / 2));
  return startUs - message.span!.startUs;
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
  const replyUs = isOneHost(message, producer) ? REPLY_ON_HOST_US : REPLY_US;
  const earlyUs = Math.max(isOneHost(message, producer) ? replyUs : SLACK_US, Math.min(tailUs(message), replyUs));
  for (const shift of candidates(message, producer, placement)) {
    const isAfter = span.startUs + shift >= producer.startUs - SLACK_US;
    if (!isAfter) continue;
    const fits = spansAround(message).some((node) => {
      if (node.clock !== producer.clock) return false;
      const lateUs = node.endUs - (end + shift);
      return lateUs >= -earlyUs && lateUs <= replyUs;
    });
    if (fits) return shift;
  }
  // When somebody has room to wait for it, durations tell more than two clocks; else round trips, or a shared host
  if (shiftByDurations(message, producer.startUs) !== null) return null;
  if (byRoundTrips !== undefined) return -byRoundTrips;
  return isOneHost(message, producer) && span.startUs + producer.shiftUs >= producer.startUs - SLACK_US
    ? producer.shiftUs
    : null;
}
