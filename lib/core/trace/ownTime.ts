// What a span's own time on the path is called. The span says what it is (classify.ts); here counts where it stands.
//
//   told by a rule, by isochrone.term, or a wait of shape.ts       that, for everything below it that is not told otherwise
//   own time of a caller whose callee is seen (CLIENT − SERVER)    network on the client's leg; model_hop of a model call,
//                                                                  or to who runs the model; backbone between regions;
//                                                                  routing inside one
//   below a model call, callee not seen                            model (split by calls.ts as far as the provider tells)
//   below a model call, callee seen                                the innermost gen_ai span is the model, the rest the hop
//   a service that passes the request on                           routing until it does
//   gaps between the spans of a service                            application when short, else nobody knows: unattributed
//   anything named                                                 application

import type { Term, Vantage } from '../terms';
import { connectionEvents } from './connections';
import type { OwnTime } from './path';
import { regionOf } from './read';
import { type Node, walkTree } from './tree';

/** A gap in an instrumented service that is still taken for its own code; µs. */
const CODE_GAP_US = 5_000;
/** How long a service may take to pass a request on for that to be routing, and not something unknown; µs. */
const PASSING_ON_US = 20_000;

/** What is known of a tree before its path is named. */
export type Surroundings = {
  root: Node;
  vantage: Vantage;
  /** Model calls: the innermost spans that call one, or a model's own span that no such call is around. */
  calls: ReadonlySet<Node>;
  /** Node → the model call it is part of. */
  callOf: ReadonlyMap<Node, Node>;
  /** Calls of which another process's spans are seen. */
  seenCallees: ReadonlySet<Node>;
  /** Calls that have a span of the model's own below. */
  seenModels: ReadonlySet<Node>;
  /** Services (their entry span) that pass the request on → when they first do; µs. */
  passesOn: ReadonlyMap<Node, number>;
};

export type NamedTime = OwnTime & { term: Term; derived: boolean; call: Node | null };

/** Looks a placed and shaped tree over. */
export function survey(root: Node, vantage: Vantage): Surroundings {
  const calls = new Set<Node>();
  findCalls(root, { calls, above: null });
  const callOf = new Map<Node, Node>();
  const seenCallees = new Set<Node>();
  const seenModels = new Set<Node>();
  for (const call of calls) {
    for (const node of walkTree(call)) {
      callOf.set(node, call);
      if (node !== call && node.crossing !== 'none' && node.span !== null) seenCallees.add(call);
      if (node !== call && isModel(node)) seenModels.add(call);
    }
  }
  return { root, vantage, calls, callOf, seenCallees, seenModels, passesOn: findPassingOn(root, callOf) };
}

/** A model's own work. Below a call from another process, a span of kind INTERNAL that calls nothing is that, too. */
function isModel(node: Node): boolean {
  return node.role.is === 'compute' || (node.role.is === 'call' && node.span?.kind === 'internal');
}

function findCalls(node: Node, { calls, above }: { calls: Set<Node>; above: Node | null }): boolean {
  // The HTTP span of a call that is told already is how that call was made
  const isPart = node.role.is === 'call' && node.role.http && above !== null && !isElsewhere(node, above);
  const isCaller = node.role.is === 'call' && !isPart;
  let isInnermost = true;
  for (const child of node.children) {
    if (findCalls(child, { calls, above: isCaller ? node : above })) isInnermost = false;
  }
  if (node.told !== null) return !isInnermost;
  if (isCaller) {
    const runsModel = above !== null && node.span?.kind === 'internal' && isElsewhere(node, above);
    if (runsModel && isInnermost && !hasClient(node)) return false;
    if (isInnermost) calls.add(node);
    return true;
  }
  if (node.role.is === 'compute' && above === null && isInnermost) {
    calls.add(node);
    return true;
  }
  return !isInnermost;
}

const hasClient = (node: Node) => node.children.some((child) => child.span?.kind === 'client');

/** True when a call between processes lies between the two. */
function isElsewhere(node: Node, above: Node): boolean {
  for (let at: Node | null = node; at !== null && at !== above; at = at.parent) if (at.crossing === 'call') return true;
  return false;
}

function findPassingOn(root: Node, callOf: ReadonlyMap<Node, Node>): Map<Node, number> {
  const found = new Map<Node, number>();
  for (const node of walkTree(root)) {
    if (node.crossing === 'none' || node.outlives || callOf.has(node)) continue;
    // The wait of a message begins with its sending; of a call, with the CLIENT span around the served one
    const leaves = node.span === null ? node : node.parent;
    if (leaves === null || (node.crossing === 'message' && node.span !== null)) continue;
    const entry = entryOf(leaves);
    if (entry !== null) found.set(entry, Math.min(found.get(entry) ?? Number.POSITIVE_INFINITY, leaves.startUs));
  }
  for (const [node, call] of callOf) if (node === call) found.delete(entryOf(node) ?? node);
  return found;
}

/** The span by which a node's process took the request: its SERVER or CONSUMER; null before anyone took it. */
function entryOf(node: Node): Node | null {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.span?.kind === 'server' || (at.span?.kind === 'consumer' && at.crossing === 'message')) return at;
  }
  return null;
}

/** Gives a stretch of the path its name. */
export function nameOwnTime(time: OwnTime, around: Surroundings): NamedTime {
  const call = around.callOf.get(time.node) ?? null;
  const told = toldAbove(time.node);
  if (told !== null) return { ...time, call, term: told.term, derived: told.derived };
  if (call !== null) return { ...time, call, ...insideCall(time, call, around) };
  const named = outsideCalls(time, around);
  // The way to a service that runs the model is that model call's
  const reached = named.term === 'modelHop' ? [...walkTree(time.node)].find((n) => around.calls.has(n)) : undefined;
  return { ...time, call: reached ?? null, ...named };
}

/** A term that was told for a node or for something above it. A retry swallows all that happened in it. */
function toldAbove(node: Node): { term: Term; derived: boolean } | null {
  if (isInRetry(node)) return { term: 'retry', derived: false };
  let nearest: Node | null = null;
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.told !== null) nearest ??= at;
    else if (nearest === null && (at.role.is === 'call' || at.role.is === 'compute' || at.role.is === 'term'))
      return null;
    if (nearest === null && at.crossing === 'call') return null;
  }
  if (nearest === null || nearest.told === null) return null;
  return { term: nearest.told, derived: !nearest.sameClock };
}

function insideCall({ node }: OwnTime, call: Node, around: Surroundings): { term: Term; derived: boolean } {
  if (node.role.is === 'term')
    return { term: node.role.term === 'connection' ? 'modelHop' : node.role.term, derived: false };
  if (!around.seenCallees.has(call)) return { term: 'model', derived: call.role.is === 'call' };
  if (isModel(node) && node !== call) return { term: 'model', derived: false };
  if (isInProcessOf(node, call)) return { term: 'modelHop', derived: true };
  return around.seenModels.has(call) ? { term: 'modelHop', derived: false } : { term: 'model', derived: true };
}

/** True until the first call between processes below `call`. */
function isInProcessOf(node: Node, call: Node): boolean {
  for (let at: Node | null = node; at !== null && at !== call; at = at.parent) if (at.crossing !== 'none') return false;
  return true;
}

function outsideCalls(time: OwnTime, around: Surroundings): { term: Term; derived: boolean } {
  const { node, after } = time;
  // The result is ready and waits to be collected
  if (after?.isCollected) return { term: 'queue', derived: true };
  const served = node.children.find((child) => child.crossing === 'call' && child.span !== null);
  if (node.span?.kind === 'client' && served !== undefined)
    return { term: wayTerm(node, served, around), derived: true };
  switch (node.role.is) {
    case 'term':
      return { term: namedTerm(node, node.role.term, around), derived: false };
    case 'entry':
    case 'framework':
      return { term: serviceTerm(time, around), derived: false };
    case 'client':
      return { term: isClientLeg(node, around) ? 'unattributed' : 'application', derived: false };
    case 'compute':
    case 'call':
      return { term: 'model', derived: true };
    default:
      return { term: 'application', derived: false };
  }
}

/**
 * Terms that were looked at and may have taken no time at all: the way of a call, a queue that was crossed, a connection
 * that a browser says was ready.
 */
export function zeroTerms(around: Surroundings): Set<Term> {
  const found = new Set<Term>();
  for (const node of walkTree(around.root)) {
    if (node.outlives || isInRetry(node)) continue;
    const call = around.callOf.get(node) ?? null;
    if (node.crossing === 'message' && node.span === null) found.add('queue');
    const caller = node.parent;
    if (node.crossing === 'call' && caller?.span?.kind === 'client' && call === null)
      found.add(wayTerm(caller, node, around));
    if (call === null && isClientLeg(node, around) && connectionEvents(node) !== null) found.add('connection');
  }
  return found;
}

function isInRetry(node: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) if (at.told === 'retry') return true;
  return false;
}

/** What the way between a caller and the service it called is. */
function wayTerm(caller: Node, served: Node, around: Surroundings): Term {
  if (isClientLeg(caller, around)) return 'network';
  if (runsModel(served, around)) return 'modelHop';
  const [from, to] = [regionOf(caller.span!), regionOf(served.span!)];
  return from !== null && to !== null && from !== to ? 'backbone' : 'routing';
}

function runsModel(served: Node, { calls }: Surroundings): boolean {
  return [...walkTree(served)].some((n) => n.role.is === 'compute' && calls.has(n) && entryOf(n) === served);
}

/** True for what a client's own process does before anybody else took over. */
function isClientLeg(node: Node, { root, vantage }: Surroundings): boolean {
  if (vantage === 'service') return false;
  for (let at: Node | null = node; at !== null && at !== root; at = at.parent) if (at.crossing !== 'none') return false;
  return true;
}

function namedTerm(node: Node, term: Term, around: Surroundings): Term {
  if (term !== 'connection' || isClientLeg(node, around)) return term;
  const caller = node.parent;
  const served = caller?.children.find((child) => child.crossing === 'call' && child.span !== null);
  return caller?.span?.kind === 'client' && served !== undefined ? wayTerm(caller, served, around) : 'application';
}

/** Time of a service that none of its named work covers. */
function serviceTerm({ node, startUs, endUs }: OwnTime, around: Surroundings): Term {
  const entry = entryOf(node);
  const passedOnUs = entry === null ? undefined : around.passesOn.get(entry);
  const lengthUs = endUs - startUs;
  if (passedOnUs !== undefined && startUs < passedOnUs) return lengthUs <= PASSING_ON_US ? 'routing' : 'unattributed';
  return lengthUs <= CODE_GAP_US ? 'application' : 'unattributed';
}
