// Replicas that started while requests waited for them. A start is seen in one trace (the first request's, or one of its
// own) and kept everyone waiting whom that replica served next:
//
//   replica   |====== load 8 s ======|--A--|--B--|        all in the stamps of the replica's own clock
//   A              wait |============|
//   B                   wait |=======|xxxxx|              = cold start, x queue behind A
//
// So a wait before a served span counts as cold start as far as the replica's start reaches into it.

import { COLD_START_NAME } from '../data/conventions';
import { parseTerm } from './classify';
import { clockOf, flagOf, numberOf, textOf } from './read';
import type { Span } from './span';

/** When a replica (see clockOf) was starting, in µs of its own clock. */
export type ReplicaStart = { replica: string; startUs: number; endUs: number };

/** Starts of replicas that these spans tell of: init spans, and `faas.init_duration` of a cold invocation. */
export function replicaStartsOf(spans: readonly Span[]): ReplicaStart[] {
  return spans.flatMap((span) => {
    if (!isNamedReplica(span)) return [];
    const told = parseTerm(textOf(span.attributes, 'isochrone.term'));
    const isInit =
      told === 'coldStart' || (told === null && span.kind === 'internal' && COLD_START_NAME.test(span.name));
    if (isInit && span.endUs > span.startUs)
      return [{ replica: clockOf(span), startUs: span.startUs, endUs: span.endUs }];
    const initUs = initDurationUs(span);
    return initUs === null ? [] : [{ replica: clockOf(span), startUs: span.startUs - initUs, endUs: span.startUs }];
  });
}

/** Service names are shared by all replicas: without an instance or a host nobody knows which one started. */
export function isNamedReplica(span: Span): boolean {
  return textOf(span.resource, 'service.instance.id', 'faas.instance', 'host.id', 'host.name', 'k8s.pod.name') !== null;
}

/** How long the function's runtime took to start before a cold invocation; µs, null when it was warm or is not told. */
export function initDurationUs(span: Span): number | null {
  if (flagOf(span.attributes, 'faas.coldstart') === false) return null;
  const seconds = numberOf(span.attributes, 'faas.init_duration');
  return seconds === null || seconds <= 0 ? null : Math.round(seconds * 1_000_000);
}
