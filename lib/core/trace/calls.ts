// The calls of a request, and the split of each model call into hop and model as far as anything tells.
//
// A callee that is seen splits by its spans. Otherwise the provider may tell its own time in a header; when both places
// are known, at least one round trip is not the model. What is left is the model, with the provider's edge and queue.

import {
  ATTEMPTS_BEFORE,
  CACHED_TOKENS,
  INPUT_TOKENS,
  MODEL_NAMES,
  OUTPUT_TOKENS,
  PROVIDER_NAMES,
  REGION_HEADERS,
  RESPONSE_HEADERS,
} from '../data/conventions';
import { roundTripMs } from '../regions';
import type { Call } from '../request';
import { streamsOf } from './classify';
import { firstOutputOf } from './firstOutput';
import type { NamedTime, Surroundings } from './ownTime';
import { countOf, headerUs, regionOf, textOf } from './read';
import type { Attributes } from './span';
import { type Node, walkTree } from './tree';

const MAX_CALLS = 64;

export type CallRecord = { node: Node; call: Call; cachedTokens: number | null; onPath: boolean };

/** What the caller's side knows of the time behind a call; µs, null when nothing tells. */
type Told = {
  modelUs: number | null;
  providerQueueUs: number | null;
  hopAtLeastUs: number | null;
  /** A gateway's own work on the way. */
  gatewayUs: number | null;
};

/** Own attributes of a call, then of the spans around it that only repeat it, then of those below. */
function attributesOf(node: Node): Attributes[] {
  const below = [...walkTree(node)].flatMap((n) => (n === node || n.span === null ? [] : [n.span.attributes]));
  const above: Attributes[] = [];
  for (let at = node.parent; at?.span && (at.role.is === 'agent' || at.role.is === 'call'); at = at.parent)
    if (at.children.filter((child) => child.role.is === 'call').length === 1) above.push(at.span.attributes);
  return [...(node.span ? [node.span.attributes] : []), ...above, ...below];
}

function firstOf<T>(attributes: readonly Attributes[], read: (a: Attributes) => T | null): T | null {
  for (const one of attributes) {
    const value = read(one);
    if (value !== null) return value;
  }
  return null;
}

/** Region that a call went to: told, the callee's own, or as the provider answered. */
export function modelRegionOf(node: Node): string | null {
  const told = firstOf(attributesOf(node), (a) => textOf(a, 'isochrone.model_region'));
  if (told !== null) return told;
  const served = [...walkTree(node)].find((n) => n !== node && n.crossing === 'call' && n.span !== null);
  const seen = served?.span ? regionOf(served.span) : null;
  if (seen !== null) return seen;
  if (node.role.is === 'compute') return regionOf(node.span!);
  const headers = REGION_HEADERS.map((name) => `http.response.header.${name}`);
  const clients = [...walkTree(node)].filter((n) => n.span?.kind === 'client');
  return firstOf(
    clients.map((n) => n.span!.attributes),
    (a) => textOf(a, 'cloud.region', ...headers),
  );
}

/** "openai.chat" and "openai" are one provider; names are compared in lower case by nobody, so they are kept as sent. */
function providerOf(attributes: readonly Attributes[]): string | null {
  const name = firstOf(attributes, (a) => textOf(a, ...PROVIDER_NAMES));
  return name === null
    ? null
    : name.replace(
        /^(openai|anthropic|google|mistral|cohere|azure)\.(chat|responses|completion|embedding|messages|generative-ai)$/,
        '$1',
      );
}

/** The records of all calls of a tree; `named` is the whole path. */
export function callsOf(around: Surroundings, named: readonly NamedTime[]): CallRecord[] {
  const onPath = new Set(named.map((time) => time.call));
  const found: CallRecord[] = [];
  for (const node of walkTree(around.root)) {
    if (node.span === null || node.outlives || isFailedAttempt(node)) continue;
    if (around.calls.has(node)) found.push(modelCall(node, around, onPath.has(node)));
    else if ((node.role.is === 'tool' || node.role.is === 'retrieval') && !holdsCall(node, around))
      found.push(otherCall(node, around.root));
  }
  found.sort((a, b) => a.node.startUs - b.node.startUs);
  return found.slice(0, MAX_CALLS);
}

function isFailedAttempt(node: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) if (at.told === 'retry') return true;
  return false;
}

const holdsCall = (node: Node, { calls }: Surroundings) => [...walkTree(node)].some((n) => n !== node && calls.has(n));

function timesOf(node: Node, root: Node): Pick<Call, 'startOffsetUs' | 'durationUs'> {
  return { startOffsetUs: Math.max(0, node.startUs - root.startUs), durationUs: node.endUs - node.startUs };
}

function otherCall(node: Node, root: Node): CallRecord {
  const none = {
    ttftUs: null,
    hopUs: null,
    providerQueueUs: null,
    modelUs: null,
    inputTokens: null,
    outputTokens: null,
  };
  const call: Call = {
    ...{ stage: node.role.is, provider: null, model: null, modelRegion: null, attempts: null },
    ...timesOf(node, root),
    ...none,
  };
  return { node, call, cachedTokens: null, onPath: false };
}

function modelCall(node: Node, around: Surroundings, onPath: boolean): CallRecord {
  const attributes = attributesOf(node);
  const first = firstOutputOf(node.span!);
  const count = (names: readonly string[]) => firstOf(attributes, (a) => countOf(a, ...names));
  const split = splitOf(node, around);
  const call: Call = {
    stage: textOf(node.span!.attributes, 'isochrone.stage') ?? stageOf(node),
    provider: providerOf(attributes),
    model: firstOf(attributes, (a) => textOf(a, ...MODEL_NAMES)),
    modelRegion: modelRegionOf(node),
    ...timesOf(node, around.root),
    ttftUs: first.is === 'told' ? first.afterUs : null,
    ...split,
    attempts: failedAttempts(node) + 1,
    inputTokens: count(INPUT_TOKENS),
    outputTokens: count(OUTPUT_TOKENS),
  };
  return { node, call, cachedTokens: count(CACHED_TOKENS), onPath };
}

/** Attempts before the one that answered: seen as spans, or told by the client or the gateway that made them. */
function failedAttempts(node: Node): number {
  const nodes = [...walkTree(node)];
  const seen = nodes.reduce((sum, n) => sum + n.failedBefore, 0);
  const told = nodes.map((n) => (n.span === null ? null : countOf(n.span.attributes, ...ATTEMPTS_BEFORE)) ?? 0);
  return Math.min(32_766, Math.max(seen, ...told));
}

const stageOf = (node: Node) =>
  node.role.is === 'call' || node.role.is === 'compute' ? node.role.stage : node.role.is;

/** Hop and model of a call (µs), until its first output when it streams; null where nothing tells. */
function splitOf(node: Node, around: Surroundings): Pick<Call, 'hopUs' | 'modelUs' | 'providerQueueUs'> {
  if (around.seenCallees.has(node)) return { hopUs: null, modelUs: null, providerQueueUs: null };
  const told = toldOf(node);
  return { hopUs: told.hopAtLeastUs, modelUs: told.modelUs, providerQueueUs: told.providerQueueUs };
}

/**
 * What a call's answer tells. A header's time is the compute of a whole answer only when the call does not stream; when
 * it does, it ends at the first byte, and is used together with a known first output. Not knowing which: not used.
 */
export function toldOf(node: Node): Told {
  const spans = [...walkTree(node)].flatMap((n) => (n.span === null || n.told === 'retry' ? [] : [n.span]));
  const answered = spans.findLast((span) =>
    Object.keys(span.attributes).some((name) => name.startsWith('http.response.header.')),
  );
  const read = (meaning: string) => {
    if (answered === undefined) return null;
    for (const [name, toUs, means] of RESPONSE_HEADERS) {
      const us = means === meaning ? headerUs(answered, name, toUs) : null;
      if (us !== null) return us;
    }
    return null;
  };
  const streams = spans.map(streamsOf).find((is) => is !== null) ?? null;
  const first = firstOutputOf(node.span!);
  const wholeUs =
    streams === true
      ? first.is === 'told'
        ? first.afterUs
        : null
      : streams === false
        ? node.endUs - node.startUs
        : null;
  const modelUs = read('model');
  const gatewayUs = read('gateway');
  const usable = wholeUs !== null && modelUs !== null && modelUs <= wholeUs;
  const there = node.span === null ? null : roundTripMs(regionOf(node.span), modelRegionOf(node));
  const roundTripUs =
    there === null ? null : Math.min(Math.round(there.ms * 1_000), wholeUs ?? node.endUs - node.startUs);
  return {
    modelUs: usable ? modelUs : null,
    providerQueueUs: read('providerQueue'),
    hopAtLeastUs: usable ? Math.max(0, wholeUs - modelUs - (gatewayUs ?? 0)) : roundTripUs,
    gatewayUs,
  };
}
