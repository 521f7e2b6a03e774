// Whose request a root is: vantage, endpoint, places, outcome, how many it stands for.

import type { Outcome, Vantage } from '../terms';
import { VANTAGES } from '../terms';
import type { TermRule } from './attributed';
import { ruleFor } from './classify';
import { piecesOf } from './path';
import { numberOf, pathOf, regionOf, statusOf, textOf } from './read';
import type { Span } from './span';
import { type Node, walkTree } from './tree';

/**
 * Where a request was measured: told by `isochrone.vantage`, else client for browsers and for roots that called a service
 * which answered with a span of its own, else service.
 */
export function vantageOf(root: Node): Vantage {
  const span = root.span!;
  const told = textOf(span.attributes, 'isochrone.vantage') ?? textOf(span.resource, 'isochrone.vantage');
  const known = VANTAGES.find((vantage) => vantage === told);
  if (known !== undefined) return known;
  if (textOf(span.attributes, 'user_agent.synthetic.type') !== null) return 'probe';
  if (isBrowser(root)) return 'client';
  return span.kind !== 'server' && span.kind !== 'consumer' && firstServed(root) !== null ? 'client' : 'service';
}

const BROWSER_SCOPE = /instrumentation[-.](fetch|xml-http-request|document-load|user-interaction)/;

/** By the SDK's language, or by an instrumentation that only runs in browsers on the root or right below it. */
function isBrowser(root: Node): boolean {
  if (textOf(root.span!.resource, 'telemetry.sdk.language') === 'webjs') return true;
  return [root, ...root.children].some((node) => BROWSER_SCOPE.test(node.span?.scope ?? ''));
}

/** The first server that a tree's own process called, in time. */
export function firstServed(root: Node): Node | null {
  const served = [...walkTree(root)].filter(
    (node) => node.crossing === 'call' && node.span?.kind === 'server' && isOwnLeg(node, root),
  );
  return served.sort((a, b) => a.startUs - b.startUs)[0] ?? null;
}

/** True when no other call or message lies between the root and this node. */
function isOwnLeg(node: Node, root: Node): boolean {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (at === root) return true;
    if (at.crossing !== 'none') return false;
  }
  return node === root;
}

const MAX_NAME = 200;

/** Name of the endpoint: told by `isochrone.endpoint` or a rule, else the route of the service, else the call's name. */
export function endpointOf(root: Node, { entry, rules }: { entry: Node | null; rules: readonly TermRule[] }): string {
  const [span, served] = [root.span!, entry?.span ?? null];
  const name =
    textOf(span.attributes, 'isochrone.endpoint') ??
    (served && textOf(served.attributes, 'isochrone.endpoint')) ??
    ruleFor(span, rules, 'endpoint') ??
    (served && ruleFor(served, rules, 'endpoint')) ??
    (served && routeOf(served)) ??
    textOf(span.attributes, 'ai.telemetry.functionId', 'gen_ai.agent.name', 'traceloop.workflow.name') ??
    (span.kind === 'client' ? routeOf(span) : httpRouteBelow(root)) ??
    span.name;
  return (name || 'unnamed').slice(0, MAX_NAME);
}

/** "POST /v1/infer": method and route, or the path with what looks like an id taken out; null when it tells neither. */
function routeOf(span: Span): string | null {
  const method = textOf(span.attributes, 'http.request.method', 'http.method');
  const route = textOf(span.attributes, 'http.route') ?? templateOf(pathOf(span));
  if (route === null) return span.kind === 'server' ? span.name || null : null;
  return method === null || route.startsWith(method) ? route : `${method.toUpperCase()} ${route}`;
}

/** For a root that only names what the user did: the path of the one call it made. */
function httpRouteBelow(root: Node): string | null {
  if (!isBrowser(root)) return null;
  const call = root.children.find((child) => child.span?.kind === 'client');
  return call?.span ? routeOf(call.span) : null;
}

const ID = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|[\w-]{24,})$/i;

function templateOf(path: string | null): string | null {
  return path === null
    ? null
    : path
        .split('/')
        .map((part) => (ID.test(part) ? '{id}' : part))
        .join('/');
}

/** Region of the client: told on any span of the request, else where a root with the client's vantage runs. */
export function clientRegionOf(
  root: Node,
  { entry, vantage }: { entry: Node | null; vantage: Vantage },
): string | null {
  for (const node of [root, entry]) {
    const told = node?.span && textOf(node.span.attributes, 'isochrone.client_region');
    if (told) return told;
  }
  const span = root.span!;
  if (vantage === 'service') return null;
  return (
    textOf(span.resource, 'isochrone.client_region') ??
    regionOf(span) ??
    textOf(span.attributes, 'geo.region.iso_code', 'geo.country.iso_code') ??
    textOf(span.resource, 'geo.region.iso_code', 'geo.country.iso_code')
  );
}

/** How it ended, by the span that answered: an error that someone caught and answered well is none. */
export function outcomeOf(root: Node): Outcome {
  for (let node: Node | null = root; node !== null && node.span !== null; ) {
    const verdict = verdictOf(node.span);
    if (verdict !== null) return verdict;
    const pieces = piecesOf(node, { fromUs: node.startUs, toUs: node.endUs });
    const last: Node | null = pieces.findLast((piece) => piece.child !== null)?.child ?? null;
    // A wrapper that says nothing ended as the last thing it waited for
    const isWrapper: boolean = node.span.kind === 'internal' || node.span.kind === 'unspecified';
    node = isWrapper && last !== null && isAnswer(last) ? last : null;
  }
  return 'ok';
}

const isAnswer = (node: Node) => node.span?.kind === 'client' || node.role.is === 'call' || node.role.is === 'agent';

function verdictOf(span: Span): Outcome | null {
  const status = statusOf(span);
  const type = textOf(span.attributes, 'error.type', 'exception.type') ?? '';
  const isError = span.status === 'error' || (status !== null && status >= 400);
  // A browser's request that got no answer: given up by the user or by a timer
  if (status === 0)
    return /time.?out/i.test(type) ? 'timeout' : span.status === 'error' && type !== '' ? abortOr(type) : 'cancelled';
  if (!isError) return status !== null || span.status === 'ok' ? 'ok' : null;
  if (status === 499) return 'cancelled';
  if (status === 408 || status === 504 || /time.?out|deadline/i.test(type)) return 'timeout';
  return abortOr(type);
}

const abortOr = (type: string): Outcome => (/abort|cancel/i.test(type) ? 'cancelled' : 'error');

/** How many requests a sampled one stands for, from `isochrone.weight` or tracestate `ot=th:…`; an integer ≥ 1. */
export function weightOf(span: Span): number {
  const told = numberOf(span.attributes, 'isochrone.weight');
  if (told !== null && told >= 1) return Math.min(1_000_000_000, Math.round(told));
  const threshold = /(?:^|,)\s*ot=[^,]*?\bth:([0-9a-f]{1,14})(?:[;,]|$)/i.exec(span.traceState ?? '')?.[1];
  if (threshold === undefined) return 1;
  const kept = 1 - Number.parseInt(threshold.padEnd(14, '0'), 16) / 2 ** 56;
  return Math.max(1, Math.min(1_000_000_000, Math.round(1 / kept)));
}
