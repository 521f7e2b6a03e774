// Connection set-up: spans of sockets and name look-ups, and the events of browsers.

import { textOf } from './read';
import type { SpanEvent } from './span';
import { hang, type Node, SLACK_US } from './tree';

/** A connection made beside the call that waits for it moves below that call. */
export function adoptConnections(node: Node): void {
  for (const child of [...node.children]) {
    if (child.role.is !== 'term' || child.role.term !== 'connection') continue;
    const port = textOf(child.span!.attributes, 'server.port', 'net.peer.port');
    const call = node.children.find(
      (other) =>
        other.span?.kind === 'client' &&
        other.clock === child.clock &&
        other.startUs <= child.startUs + SLACK_US &&
        child.endUs <= other.endUs + SLACK_US &&
        (port === null || port === textOf(other.span.attributes, 'server.port', 'net.peer.port')),
    );
    if (call !== undefined) hang(child, call);
  }
}

const eventAt = (events: readonly SpanEvent[], name: string) =>
  events.find((event) => event.name === name)?.atUs ?? null;

/** Stretches of set-up that a browser's events tell of a call: name look-up, then connecting with TLS; µs as stamped. */
export function connectionEvents(node: Node): { startUs: number; endUs: number }[] | null {
  const events = node.span?.events ?? [];
  const stretches: { startUs: number; endUs: number }[] = [];
  for (const [from, to] of [
    ['domainLookupStart', 'domainLookupEnd'],
    ['connectStart', 'connectEnd'],
  ] as const) {
    const [start, end] = [eventAt(events, from), eventAt(events, to)];
    // Without Timing-Allow-Origin all of them are 0
    if (start !== null && end !== null && start > 0 && end >= start) stretches.push({ startUs: start, endUs: end });
  }
  return stretches.length === 0 ? null : stretches;
}

/** When a call's connection was ready: after its set-up, as far as spans or events tell; µs on the root's clock. */
export function readyUs(node: Node): number {
  const ends = [node.startUs];
  for (const child of node.children)
    if (child.role.is === 'term' && child.role.term === 'connection' && child.clock === node.clock)
      ends.push((child.span?.endUs ?? child.endUs) + node.shiftUs);
  for (const { endUs } of connectionEvents(node) ?? []) ends.push(endUs + node.shiftUs);
  return Math.min(node.endUs, Math.max(...ends));
}

/** Whether a client's own calls had to connect: null when neither spans nor events tell. */
export function connectionKindOf(root: Node): 'new' | 'reused' | null {
  let kind: 'new' | 'reused' | null = null;
  const look = (node: Node) => {
    const stretches = node.span === null ? null : connectionEvents(node);
    const isConnection = node.span !== null && node.role.is === 'term' && node.role.term === 'connection';
    if (isConnection || stretches?.some(({ startUs, endUs }) => endUs > startUs)) kind = 'new';
    else if (stretches !== null) kind ??= 'reused';
    for (const child of node.children) if (child.crossing === 'none') look(child);
  };
  look(root);
  return kind;
}
