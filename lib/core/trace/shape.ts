// Waits that no span shows as such, added to a placed tree as nodes of their own: attempts that failed with the back-off
// after them, connection set-up told by events, queues told by attributes, replicas that were starting.
//
//   attempts       parent |----------------------------|
//                          429 |--|  back-off  200 |---|      retry from the first attempt to the one that answered
//                              |======retry=======|
//
//   connection     POST  |-----------------|                  a sibling's or an event's time on the way belongs to the
//                  connect |--|                               call that needed it
//
//   cold start     CLIENT |--------------------|              what of the way in a starting replica explains
//                  SERVER  ==start==|----------|

import type { Term } from '../terms';
import { connectionEvents } from './connections';
import { flagOf, numberOf, pathOf, statusOf, textOf } from './read';
import { initDurationUs, type ReplicaStart } from './replicas';
import { hang, type Node, SLACK_US, waitNode, walkTree } from './tree';

/** Adds them all, in place. */
export function shapeTree(root: Node, starts: readonly ReplicaStart[]): void {
  const nodes = [...walkTree(root)];
  for (const node of nodes) {
    addConnectionEvents(node);
    addServerQueue(node);
    joinAttempts(node);
  }
  for (const node of nodes) addColdStart(node, starts);
}

function addWait(parent: Node, { term, startUs, endUs }: { term: Term; startUs: number; endUs: number }): Node | null {
  if (endUs <= startUs) return null;
  const wait = waitNode({ startUs, endUs });
  wait.told = term;
  wait.clock = parent.clock;
  hang(wait, parent);
  return wait;
}

function addConnectionEvents(node: Node): void {
  for (const { startUs, endUs } of connectionEvents(node) ?? []) {
    const from = Math.max(node.startUs, startUs + node.shiftUs);
    addWait(node, { term: 'connection', startUs: from, endUs: Math.min(node.endUs, endUs + node.shiftUs) });
  }
}

/** vLLM tells on its span how long the request waited to be scheduled. */
function addServerQueue(node: Node): void {
  if (node.role.is !== 'compute' || node.span === null) return;
  const seconds = numberOf(node.span.attributes, 'gen_ai.latency.time_in_queue');
  if (seconds === null || seconds <= 0) return;
  const endUs = Math.min(node.endUs, node.startUs + Math.round(seconds * 1_000_000));
  addWait(node, { term: 'queue', startUs: node.startUs, endUs });
}

const hasFailed = (node: Node) =>
  node.span !== null && (node.span.status === 'error' || (statusOf(node.span) ?? 0) >= 400);

/** What siblings must share to be attempts at one thing; null for spans that are no attempts. */
function attemptKey(node: Node): string | null {
  const span = node.span;
  if (span === null || node.outlives) return null;
  if (node.crossing === 'message') return `message ${span.name}`;
  // A fall-back asks another model, or another host
  if (span.kind === 'client' && node.parent?.role.is === 'call') return 'part of a call';
  if (node.role.is === 'call') return `call ${node.role.stage}`;
  if (node.role.is === 'client')
    return `client ${textOf(span.attributes, 'server.address')} ${span.name} ${pathOf(span)}`;
  return /(^|[^a-z])(attempt|retry|try)([^a-z]|$)/i.test(span.name) ? 'attempt' : null;
}

function joinAttempts(node: Node): void {
  const groups = new Map<string, Node[]>();
  for (const child of [...node.children].sort((a, b) => a.startUs - b.startUs)) {
    const key = attemptKey(child);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [child]);
    else group.push(child);
  }
  for (const group of groups.values()) {
    let failed: Node[] = [];
    for (const attempt of group) {
      const follows = failed.length === 0 || attempt.startUs >= failed.at(-1)!.endUs - SLACK_US;
      if (!follows) failed = [];
      else if (failed.length > 0 && (!hasFailed(attempt) || attempt === group.at(-1))) joinRun(node, failed, attempt);
      if (hasFailed(attempt)) failed.push(attempt);
      else failed = [];
    }
  }
}

function joinRun(node: Node, failed: readonly Node[], answered: Node): void {
  answered.failedBefore = failed.length;
  const first = failed[0]!;
  if (answered.crossing === 'message') {
    const isWait = (child: Node) => child.span === null && child.told === 'queue' && child.endUs === answered.startUs;
    node.children = node.children.filter((child) => !isWait(child));
  }
  const retry = addWait(node, { term: 'retry', startUs: first.startUs, endUs: answered.startUs });
  if (retry !== null) for (const attempt of failed) hang(attempt, retry);
}

function addColdStart(node: Node, starts: readonly ReplicaStart[]): void {
  const { span, parent } = node;
  if (span === null || parent === null || node.crossing === 'none' || node.outlives) return;
  const wait =
    node.crossing === 'message'
      ? parent.children.find((child) => child.span === null && child.told === 'queue' && child.endUs === node.startUs)
      : parent;
  if (wait === undefined) return;
  const ofReplica = starts.filter((start) => start.replica === node.clock);
  const initUs = initDurationUs(span);
  if (initUs !== null) ofReplica.push({ replica: node.clock, startUs: span.startUs - initUs, endUs: span.startUs });
  if (ofReplica.length > 0) addStarts(node, wait, ofReplica);
  else if (node.crossing === 'call' && flagOf(span.attributes, 'faas.coldstart') === true) addUnevenWay(node, parent);
}

/** The parts of the way to a node that starts of its replica explain. */
function addStarts(node: Node, wait: Node, starts: readonly ReplicaStart[]): void {
  const beforeUs = node.crossing === 'message' ? node.startUs - wait.startUs : roomUs(node, wait);
  const stampUs = node.span!.startUs;
  const parts = starts
    .map(({ startUs, endUs }) => ({ from: Math.max(startUs, stampUs - beforeUs), to: Math.min(endUs, stampUs) }))
    .filter(({ from, to }) => to > from);
  if (parts.length === 0) return;
  if (node.crossing === 'call' && !node.sameClock) {
    // Both ways of the call are equally long but for the start of the replica
    const neededUs = stampUs - Math.min(...parts.map((part) => part.from));
    const upUs = neededUs + Math.round((beforeUs - neededUs) / 2);
    moveTree(node, wait.startUs + upUs - node.startUs);
  }
  for (const { from, to } of parts) {
    const shift = node.startUs - stampUs;
    addWait(wait, { term: 'coldStart', startUs: from + shift, endUs: to + shift });
  }
}

const roomUs = (node: Node, caller: Node) => Math.max(0, caller.endUs - caller.startUs - (node.endUs - node.startUs));

/** A cold start without a duration: by how much the way in is longer than the way out. */
function addUnevenWay(node: Node, caller: Node): void {
  const coldUs = node.startUs - caller.startUs - Math.max(0, caller.endUs - node.endUs);
  addWait(caller, { term: 'coldStart', startUs: node.startUs - Math.max(0, coldUs), endUs: node.startUs });
}

function moveTree(root: Node, byUs: number): void {
  for (const node of walkTree(root)) {
    node.startUs += byUs;
    node.endUs += byUs;
    node.shiftUs += byUs;
  }
}
