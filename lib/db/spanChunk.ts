// Row ↔ spans codec of span_chunk.
//
//   trace_index  26 bytes a trace: id (16) · end of its spans in the body (4) · number of spans (4) · flags (1) · 0
//   trace_links  32 bytes a trace whose consumer got its message from another trace: its own id, that one's
//   body         per trace its spans, each a JSON array, comma-separated; deflated
//   origins      JSON [{resource, scope}]; a span names its own by position
//
// The worker keeps only the index of open traces and parses a body when a trace closes: 100,000 open traces cost the
// same memory however large their spans are. One deflated body a flush is 6 times smaller than arrays that Postgres
// compresses one by one, because attributes repeat from span to span.

import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Half } from '../core/trace/mergeHalves';
import {
  type Attributes,
  SPAN_KINDS,
  SPAN_STATUSES,
  type Span,
  type SpanEvent,
  type SpanLink,
} from '../core/trace/span';

const ENTRY_BYTES = 26;
const LEVEL = 1;
const [ROOTED, CLIENT_HALF, SERVICE_HALF] = [1, 2, 4] as const;
const deflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);
const inflate = promisify<Buffer, Buffer>(zlib.inflateRaw);

/** One trace in a chunk: `from` and `to` are bytes of the inflated body. */
export type TraceEntry = {
  traceId: string;
  from: number;
  to: number;
  spans: number;
  rooted: boolean;
  /** Vantages of halves of its request. */
  clientHalf: boolean;
  serviceHalf: boolean;
};
/** `from` belongs to the request of `to`: its consumer links to a span there. */
export type TraceLink = { from: string; to: string };
export type EncodedSpans = {
  n: number;
  traceIndex: Buffer;
  traceLinks: Buffer | null;
  halves: Buffer | null;
  origins: Buffer;
  body: Buffer;
};
export type Origin = { resource: Attributes; scope: string };
/** A body that was inflated, to cut the spans of its traces from. */
export type InflatedBody = { body: Buffer; origins: readonly Origin[] };

type Line = [
  spanId: string,
  parentSpanId: string | 0,
  name: string,
  kind: number,
  startUs: number,
  durationUs: number,
  status: number,
  origin: number,
  attributes: Attributes | 0,
  events: readonly SpanEvent[] | 0,
  links: readonly SpanLink[] | 0,
  traceState: string | 0,
];

/** Distinct origins in order of appearance. Spans of one export share their resource object. */
class OriginTable {
  readonly texts: string[] = [];
  private readonly byText = new Map<string, number>();
  private readonly seen = new Map<Attributes, Map<string, number>>();

  indexOf({ resource, scope }: Origin): number {
    let scopes = this.seen.get(resource);
    if (!scopes) {
      scopes = new Map();
      this.seen.set(resource, scopes);
    }
    let index = scopes.get(scope);
    if (index === undefined) {
      const text = JSON.stringify({ resource, scope });
      index = this.byText.get(text);
      if (index === undefined) {
        index = this.texts.push(text) - 1;
        this.byText.set(text, index);
      }
      scopes.set(scope, index);
    }
    return index;
  }
}

/** Spans and halves of requests of one project → the row's columns. */
export async function encodeSpans(spans: readonly Span[], halves: readonly Half[] = []): Promise<EncodedSpans> {
  const origins = new OriginTable();
  const traces = new Map<string, { lines: string[]; flags: number }>();
  const links = new Map<string, string>();
  for (const span of spans) {
    let trace = traces.get(span.traceId);
    if (!trace) {
      trace = { lines: [], flags: 0 };
      traces.set(span.traceId, trace);
    }
    trace.lines.push(JSON.stringify(lineOf(span, origins.indexOf(span))));
    if (span.parentSpanId === null) trace.flags |= ROOTED;
    const linked = span.links.length === 0 ? null : senderTrace(span);
    if (linked !== null) links.set(span.traceId, linked);
  }
  for (const { traceId, vantage } of halves) {
    const trace = traces.get(traceId) ?? { lines: [], flags: 0 };
    trace.flags |= vantage === 'client' ? CLIENT_HALF : SERVICE_HALF;
    traces.set(traceId, trace);
  }
  const traceIndex = Buffer.alloc(traces.size * ENTRY_BYTES);
  const parts: Buffer[] = [];
  let at = 0;
  let end = 0;
  for (const [traceId, { lines, flags }] of traces) {
    const part = Buffer.from(lines.join(','));
    parts.push(part);
    end += part.length;
    traceIndex.write(traceId, at, 'hex');
    traceIndex.writeUInt32LE(end, at + 16);
    traceIndex.writeUInt32LE(lines.length, at + 20);
    traceIndex.writeUInt8(flags, at + 24);
    at += ENTRY_BYTES;
  }
  const [body, originsBody, halvesBody] = await Promise.all([
    deflate(Buffer.concat(parts), { level: LEVEL }),
    deflate(Buffer.from(`[${origins.texts.join(',')}]`), { level: LEVEL }),
    halves.length === 0 ? null : deflate(Buffer.from(JSON.stringify(halves)), { level: LEVEL }),
  ]);
  const traceLinks = links.size === 0 ? null : Buffer.from([...links].flat().join(''), 'hex');
  return { n: spans.length, traceIndex, traceLinks, halves: halvesBody, origins: originsBody, body };
}

/** The other trace in which a consumer's message was sent; null for a batch of messages from several. */
function senderTrace(span: Span): string | null {
  if (span.kind !== 'consumer') return null;
  const others = new Set(span.links.map((link) => link.traceId).filter((id) => id !== span.traceId));
  const [only] = others;
  return others.size === 1 ? only! : null;
}

function lineOf(span: Span, origin: number): Line {
  return [
    span.spanId,
    span.parentSpanId ?? 0,
    span.name,
    SPAN_KINDS.indexOf(span.kind),
    span.startUs,
    span.endUs - span.startUs,
    SPAN_STATUSES.indexOf(span.status),
    origin,
    span.attributes,
    span.events.length === 0 ? 0 : span.events,
    span.links.length === 0 ? 0 : span.links,
    span.traceState ?? 0,
  ];
}

/** The traces of a chunk, in the order of its body. */
export function decodeTraceIndex(traceIndex: Buffer): TraceEntry[] {
  const entries: TraceEntry[] = [];
  let from = 0;
  for (let at = 0; at < traceIndex.length; at += ENTRY_BYTES) {
    const to = traceIndex.readUInt32LE(at + 16);
    const traceId = traceIndex.toString('hex', at, at + 16);
    const spans = traceIndex.readUInt32LE(at + 20);
    const flags = traceIndex.readUInt8(at + 24);
    const halves = { clientHalf: (flags & CLIENT_HALF) !== 0, serviceHalf: (flags & SERVICE_HALF) !== 0 };
    entries.push({ traceId, from, to, spans, rooted: (flags & ROOTED) !== 0, ...halves });
    from = to;
  }
  return entries;
}

export function decodeTraceLinks(traceLinks: Buffer | null): TraceLink[] {
  const links: TraceLink[] = [];
  for (let at = 0; traceLinks !== null && at < traceLinks.length; at += 32) {
    links.push({ from: traceLinks.toString('hex', at, at + 16), to: traceLinks.toString('hex', at + 16, at + 32) });
  }
  return links;
}

/** Throws when the column is not what `encodeSpans` wrote. */
export async function inflateHalves(halves: Buffer | null): Promise<Half[]> {
  return halves === null ? [] : (JSON.parse((await inflate(halves)).toString()) as Half[]);
}

/** Throws when the columns are not what `encodeSpans` wrote. */
export async function inflateBody(row: { body: Buffer; origins: Buffer }): Promise<InflatedBody> {
  const [body, origins] = await Promise.all([inflate(row.body), inflateOrigins(row.origins)]);
  return { body, origins };
}

/** The processes and instrumentations that made the spans of a chunk. Throws as `inflateBody`. */
export async function inflateOrigins(origins: Buffer): Promise<Origin[]> {
  return JSON.parse((await inflate(origins)).toString()) as Origin[];
}

/** The spans of one trace of an inflated body. */
export function decodeSpans({ body, origins }: InflatedBody, entry: TraceEntry): Span[] {
  if (entry.from === entry.to) return [];
  const lines = JSON.parse(`[${body.toString('utf8', entry.from, entry.to)}]`) as Line[];
  return lines.map((line) => {
    const [spanId, parent, name, kind, startUs, durationUs, status, origin, attributes, events, links, state] = line;
    const { resource, scope } = origins[origin]!;
    return {
      traceId: entry.traceId,
      spanId,
      parentSpanId: parent === 0 ? null : parent,
      name,
      kind: SPAN_KINDS[kind]!,
      startUs,
      endUs: startUs + durationUs,
      status: SPAN_STATUSES[status]!,
      attributes: attributes === 0 ? {} : attributes,
      resource,
      scope,
      traceState: state === 0 ? null : state,
      events: events === 0 ? [] : events,
      links: links === 0 ? [] : links,
    };
  });
}
