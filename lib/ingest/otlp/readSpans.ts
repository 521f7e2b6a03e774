// Export request → spans. One bad span never poisons its batch: it is counted under its reason and left out.

import { isKeptAttribute, keptPart } from '../../core/trace/keptAttributes';
import {
  type Attributes,
  type AttributeValue,
  SPAN_KINDS,
  SPAN_STATUSES,
  type Span,
  type SpanEvent,
  type SpanLink,
} from '../../core/trace/span';
import { readEnum, readId, readText, readTimeUs, readValue } from './values';
import type { WireAttribute, WireEvent, WireLink, WireRequest, WireScopeSpans, WireSpan } from './wire';

/** Why a span was left out; the name under which it is counted. */
export type SpanRejectReason = 'not_a_span' | 'trace_id' | 'span_id' | 'no_start' | 'no_end' | 'too_old' | 'future';

export const REJECT_WORDS: Record<SpanRejectReason, string> = {
  not_a_span: 'is not an object',
  trace_id: 'has no traceId of 16 bytes',
  span_id: 'has no spanId of 8 bytes',
  no_start: 'has no startTimeUnixNano',
  no_end: 'has no endTimeUnixNano',
  too_old: 'ended more than 35 days ago',
  future: 'ends more than a day in the future: check the clock of its host',
};

export type SpansRead = { spans: Span[]; rejected: Map<SpanRejectReason, number> };

/** Which attributes a project keeps beyond those that everyone does: those its term rules look at. */
export type KeptToo = ReadonlySet<string>;

const OLD_US = 35 * 86_400_000_000;
const FUTURE_US = 86_400_000_000;
const MAX_EVENTS = 32;
const MAX_LINKS = 8;
const MAX_NAME = 200;

type Reading = {
  /** µs since the epoch. */
  nowUs: number;
  keptToo: KeptToo;
  /** Where the sender stands, when its key tells; what the resource itself says is stronger. */
  vantage: 'client' | 'probe' | null;
};

/** All spans of a request that can be read. */
export function readSpans(request: WireRequest, reading: Reading): SpansRead {
  const read: SpansRead = { spans: [], rejected: new Map() };
  for (const resourceSpans of objects<WireRequest['resourceSpans'][number]>(request.resourceSpans)) {
    const told = readAttributes(resourceSpans.resource?.attributes, reading.keptToo);
    const resource = reading.vantage === null ? told : { 'isochrone.vantage': reading.vantage, ...told };
    const scopes = [resourceSpans.scopeSpans, resourceSpans.instrumentationLibrarySpans];
    for (const scopeSpans of scopes.flatMap((list) => objects<WireScopeSpans>(list))) {
      const scope = readText(scopeSpans.scope?.name ?? scopeSpans.instrumentationLibrary?.name) ?? '';
      for (const wire of Array.isArray(scopeSpans.spans) ? (scopeSpans.spans as unknown[]) : []) {
        const span = readSpan(wire, { resource, scope }, reading);
        if (typeof span === 'string') read.rejected.set(span, (read.rejected.get(span) ?? 0) + 1);
        else read.spans.push(span);
      }
    }
  }
  return read;
}

function readSpan(
  wire: unknown,
  { resource, scope }: { resource: Attributes; scope: string },
  { nowUs, keptToo }: Reading,
): Span | SpanRejectReason {
  if (typeof wire !== 'object' || wire === null) return 'not_a_span';
  const sent = wire as WireSpan;
  const traceId = readId(sent.traceId, 16);
  if (traceId === null) return 'trace_id';
  const spanId = readId(sent.spanId, 8);
  if (spanId === null) return 'span_id';
  const startUs = readTimeUs(sent.startTimeUnixNano);
  if (startUs === null) return 'no_start';
  const endUs = readTimeUs(sent.endTimeUnixNano);
  if (endUs === null) return 'no_end';
  if (endUs < nowUs - OLD_US) return 'too_old';
  if (endUs > nowUs + FUTURE_US) return 'future';
  return {
    traceId,
    spanId,
    parentSpanId: readId(sent.parentSpanId, 8),
    name: readText(sent.name, MAX_NAME) ?? '',
    kind: SPAN_KINDS[readEnum(sent.kind, SPAN_KINDS, 'SPAN_KIND_')]!,
    startUs,
    endUs: Math.max(startUs, endUs), // a clock set back within the span: zero-length
    status: SPAN_STATUSES[readEnum(sent.status?.code, SPAN_STATUSES, 'STATUS_CODE_')]!,
    attributes: readAttributes(sent.attributes, keptToo),
    resource,
    scope,
    traceState: readText(sent.traceState),
    events: readEvents(sent.events, keptToo),
    links: readLinks(sent.links),
  };
}

const objects = <T>(list: unknown): T[] =>
  Array.isArray(list) ? list.filter((element) => typeof element === 'object' && element !== null) : [];

function readAttributes(list: unknown, keptToo: KeptToo): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  if (!Array.isArray(list)) return attributes;
  for (const attribute of list as (WireAttribute | null)[]) {
    const key = attribute?.key;
    if (typeof key !== 'string' || !(isKeptAttribute(key) || keptToo.has(key))) continue;
    const value = readValue(attribute?.value);
    if (value !== null) attributes[key] = typeof value === 'string' ? keptPart(key, value) : value;
  }
  return attributes;
}

function readEvents(list: unknown, keptToo: KeptToo): SpanEvent[] {
  if (!Array.isArray(list) || list.length === 0) return [];
  const events: SpanEvent[] = [];
  for (const event of objects<WireEvent>(list).slice(0, MAX_EVENTS)) {
    const name = readText(event.name);
    const atUs = readTimeUs(event.timeUnixNano);
    if (name === null || atUs === null) continue;
    events.push({ name, atUs, attributes: readAttributes(event.attributes, keptToo) });
  }
  return events;
}

function readLinks(list: unknown): SpanLink[] {
  if (!Array.isArray(list) || list.length === 0) return [];
  const links: SpanLink[] = [];
  for (const link of objects<WireLink>(list).slice(0, MAX_LINKS)) {
    const traceId = readId(link.traceId, 16);
    const spanId = readId(link.spanId, 8);
    if (traceId !== null && spanId !== null) links.push({ traceId, spanId });
  }
  return links;
}
