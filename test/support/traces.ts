import zlib from 'node:zlib';
import { type TimedRequest, unattributedUs } from '../../lib/core/request';
import { MEASURED_TERMS, type MeasuredTerm } from '../../lib/core/terms';
import type { TermRule, TracedRequest } from '../../lib/core/trace/attributed';
import { attributeTrace } from '../../lib/core/trace/attributeTrace';
import { type BrokerUse, brokerUsesOf } from '../../lib/core/trace/brokers';
import { type ReplicaStart, replicaStartsOf } from '../../lib/core/trace/replicas';
import type { Span } from '../../lib/core/trace/span';
import { readSpans } from '../../lib/ingest/otlp/readSpans';
import { decodeProtobuf, parseJson } from '../../lib/ingest/otlp/wire';
import { readCapture } from './captures';
import { testbedLines } from './testbedPosts';

const READING = { nowUs: 1_796_100_000_000_000, keptToo: new Set<string>(), vantage: null };

/** All spans of a capture in the order they were sent, as the receiver reads them. */
export function captureSpans(name: string): Span[] {
  return readCapture(name)
    .filter((post) => post.path === '/v1/traces')
    .flatMap((post) => {
      const body = post.contentEncoding === 'gzip' ? zlib.gunzipSync(post.body) : post.body;
      const wire = post.contentType.includes('json') ? parseJson(body.toString()) : decodeProtobuf(body);
      return readSpans(wire, READING).spans;
    });
}

/** All spans of the testbed's traces of a variant. */
export function testbedSpans(variant: 'geography76' | 'queue'): Span[] {
  return testbedLines(variant).flatMap((line) => readSpans(parseJson(line), READING).spans);
}

export function byTrace(spans: readonly Span[]): Span[][] {
  const traces = new Map<string, Span[]>();
  for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
  return [...traces.values()];
}

/** Processes that are connected to a broker which another one puts work into. */
export function workersOf(uses: readonly BrokerUse[]): Set<string> {
  const isTaker = ({ process, address }: BrokerUse) =>
    uses.some((use) => use.sends && use.address === address && use.process !== process);
  return new Set(uses.filter(isTaker).map((use) => use.process));
}

/** Every request of these spans, each trace on its own, in the order they started. */
export function requestsOf(spans: readonly Span[], rules: readonly TermRule[] = []): TracedRequest[] {
  const replicaStarts: ReplicaStart[] = replicaStartsOf(spans);
  const traces = byTrace(spans);
  const workers = workersOf(traces.flatMap(brokerUsesOf));
  return traces
    .flatMap((trace) => attributeTrace({ spans: trace, rules, replicaStarts, workers }).requests)
    .sort((a, b) => a.request.startedAtUs - b.request.startedAtUs || (a.request.id < b.request.id ? -1 : 1));
}

/** The same spans as a host whose clock runs ahead by `byUs` would have stamped them. */
export function shiftClock(spans: readonly Span[], service: string, byUs: number): Span[] {
  return spans.map((span) =>
    span.resource['service.name'] !== service
      ? span
      : {
          ...span,
          startUs: span.startUs + byUs,
          endUs: span.endUs + byUs,
          events: span.events.map((event) => ({ ...event, atUs: event.atUs + byUs })),
        },
  );
}

export type TermsMs = Partial<Record<MeasuredTerm | 'unattributed' | 'decode', number>>;

/** The terms of a request that are known and not 0, in ms. */
export function termsMs(request: TimedRequest): TermsMs {
  const all: [string, number | null][] = [
    ...MEASURED_TERMS.map((term, i): [string, number | null] => [term, request.terms[i] ?? null]),
    ['unattributed', unattributedUs(request)],
    ['decode', request.decodeUs],
  ];
  return Object.fromEntries(all.filter(([, us]) => us !== null && us !== 0).map(([term, us]) => [term, us! / 1_000]));
}

export const termMs = (request: TimedRequest, term: MeasuredTerm): number | null => {
  const us = request.terms[MEASURED_TERMS.indexOf(term)] ?? null;
  return us === null ? null : us / 1_000;
};
