// Jobs whose context was lost: queue libraries without telemetry carry no trace through the queue.
//
//   chat-api     POST |-evalsha-|· · · · · · · · · · · ·|      the request: queue and model are not seen
//   chat-worker                     chat |----------|          a trace of its own, which is part of somebody's request
//
// Such a call is nobody's own request. It is known by the broker: a server's request that calls no model runs a script or
// pushes something there, and the call's process has a connection to the same one. `isochrone.endpoint` on the call, or a
// rule that names its endpoint, makes it a request all the same.

import { classify } from './classify';
import { clockOf, textOf } from './read';
import type { Span } from './span';
import type { Node } from './tree';

/** A process (see clockOf) and a broker (host:port) that it is connected to, or puts work into within a request. */
export type BrokerUse = { process: string; address: string; sends: boolean };

const BROKERS = new Set(['redis', 'valkey', 'keydb', 'dragonfly']);
const PUTS = /^(eval|evalsha|fcall|xadd|lpush|rpush|publish|zadd)\b/i;

/** What the spans of one trace tell of brokers. */
export function brokerUsesOf(spans: readonly Span[]): BrokerUse[] {
  const uses: BrokerUse[] = [];
  for (const span of spans) {
    const isBroker = BROKERS.has((textOf(span.attributes, 'db.system.name', 'db.system') ?? '').toLowerCase());
    const sends = isBroker && span.parentSpanId !== null && PUTS.test(commandOf(span));
    const connects = span.parentSpanId === null && (isBroker || span.name === 'tcp.connect');
    const address = sends || connects ? addressOf(span) : null;
    if (address !== null) uses.push({ process: clockOf(span), address, sends });
  }
  const isSender = uses.some((use) => use.sends) && spans.some(isServer) && !spans.some(callsModel);
  return isSender ? uses : uses.filter((use) => !use.sends);
}

const commandOf = (span: Span) => textOf(span.attributes, 'db.operation.name', 'db.operation') ?? span.name;
const isServer = (span: Span) => span.kind === 'server';

function callsModel(span: Span): boolean {
  const role = classify(span);
  return role.is === 'call' || role.is === 'compute' || span.kind === 'consumer';
}

function addressOf({ attributes }: Span): string | null {
  const host = textOf(attributes, 'server.address', 'net.peer.name');
  const port = textOf(attributes, 'server.port', 'net.peer.port');
  return host === null || port === null ? null : `${host}:${port}`;
}

/** Processes whose traces may begin with such a call. */
export function possibleWorkers(spans: readonly Span[]): string[] {
  const roots = spans.filter((span) => span.parentSpanId === null && isOwnWork(span.kind));
  return [...new Set(roots.map(clockOf))];
}

/** True for a root that is a job of one of these workers. */
export function isLostJob(root: Node, workers: ReadonlySet<string>): boolean {
  return root.span !== null && isOwnWork(root.span.kind) && workers.has(root.clock);
}

const isOwnWork = (kind: Span['kind']) => kind === 'client' || kind === 'internal' || kind === 'unspecified';
