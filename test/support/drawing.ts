// Traces from drawings: the drawing is the data.
//
//   ask    client   app  |--------------------|      name, kind, service, then the span; indented below its parent
//     infer server  gate    |-------------|          a column is `columnMs`; the first column of the root is 0
//     ping  client  app             |                one bar: a span of no length
//
// A name may hold no space; '~' stands for one.
import type { TermRule, TracedRequest } from '../../lib/core/trace/attributed';
import { attributeTrace } from '../../lib/core/trace/attributeTrace';
import type { ReplicaStart } from '../../lib/core/trace/replicas';
import type { Attributes, Span, SpanKind } from '../../lib/core/trace/span';

export type Drawing = {
  columnMs?: number;
  /** µs since the epoch of the root's first column. */
  originUs?: number;
  traceId?: string;
  /** By name of span. */
  attributes?: Record<string, Attributes>;
  status?: Record<string, Span['status']>;
  links?: Record<string, string>;
  events?: Record<string, [name: string, atMs: number][]>;
  scopes?: Record<string, string>;
  /** By service. */
  resources?: Record<string, Attributes>;
  /** Service → ms that its clock runs ahead. */
  aheadMs?: Record<string, number>;
};

const TRACE = 'ab'.repeat(16);
const idOf = (trace: string, line: number) => `${trace.slice(0, 4)}${(line + 1).toString(16).padStart(12, '0')}`;

/** The spans of a drawing, top to bottom. */
export function draw(text: string, more: Drawing = {}): Span[] {
  const lines = text.split('\n').filter((line) => line.includes('|'));
  const columnMs = more.columnMs ?? 10;
  const zero = lines[0]!.indexOf('|');
  const traceId = more.traceId ?? TRACE;
  const above: { indent: number; spanId: string }[] = [];
  const ids = new Map<string, string>();
  return lines.map((line, at) => {
    const match = /^(\s*)(\S+)\s+(internal|client|server|producer|consumer)\s+(\S+)\s+\|/.exec(line);
    if (!match) throw new Error(`not a span: ${line}`);
    const [, spaces, drawn, kind, service] = match as unknown as [string, string, string, SpanKind, string];
    while (above.length > 0 && above.at(-1)!.indent >= spaces.length) above.pop();
    const spanId = idOf(traceId, at);
    const parentSpanId = above.at(-1)?.spanId ?? null;
    above.push({ indent: spaces.length, spanId });
    ids.set(drawn, spanId);
    const [from, to] = [line.indexOf('|'), line.lastIndexOf('|')];
    const aheadUs = (more.aheadMs?.[service] ?? 0) * 1_000;
    const us = (ms: number) => (more.originUs ?? 1_796_000_000_000_000) + Math.round(ms * 1_000) + aheadUs;
    const linked = more.links?.[drawn];
    return {
      traceId,
      spanId,
      parentSpanId,
      name: drawn.replaceAll('~', ' '),
      kind,
      startUs: us((from - zero) * columnMs),
      endUs: us((to - zero) * columnMs),
      status: more.status?.[drawn] ?? 'unset',
      attributes: more.attributes?.[drawn] ?? {},
      resource: { 'service.name': service, ...more.resources?.[service] },
      scope: more.scopes?.[drawn] ?? '',
      traceState: null,
      events: (more.events?.[drawn] ?? []).map(([name, atMs]) => ({ name, atUs: us(atMs), attributes: {} })),
      links: linked === undefined ? [] : [{ traceId, spanId: ids.get(linked) ?? linked }],
    };
  });
}

type Context = { rules?: readonly TermRule[]; replicaStarts?: readonly ReplicaStart[] };

/** The only request of these spans. */
export function onlyRequest(spans: readonly Span[], { rules = [], replicaStarts = [] }: Context = {}): TracedRequest {
  const { requests } = attributeTrace({ spans, rules, replicaStarts });
  if (requests.length !== 1) throw new Error(`${requests.length} requests`);
  return requests[0]!;
}

/** Attributes that make a span a model call. */
export const CHAT: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'p',
  'gen_ai.request.model': 'm',
};
export const POST: Attributes = {
  'http.request.method': 'POST',
  'http.route': '/infer',
  'http.response.status_code': 200,
};
export const FAILED: Attributes = { 'http.request.method': 'POST', 'http.response.status_code': 429 };
