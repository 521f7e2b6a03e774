/** What an attribute of a span may be once it is read; maps and bytes are never kept. */
export type AttributeValue = string | number | boolean | readonly (string | number | boolean)[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The index is OTLP's number. */
export const SPAN_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** The index is OTLP's number. */
export const SPAN_STATUSES = ['unset', 'ok', 'error'] as const;
export type SpanStatus = (typeof SPAN_STATUSES)[number];

export type SpanEvent = { name: string; atUs: number; attributes: Attributes };
export type SpanLink = { traceId: string; spanId: string };

/** One finished operation. Times are whole µs since the epoch by the clock of its own host. */
export type Span = {
  /** 32 and 16 lower-case hex digits. */
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: SpanKind;
  startUs: number;
  endUs: number;
  status: SpanStatus;
  attributes: Attributes;
  /** Of the process: service.name, cloud.region, … */
  resource: Attributes;
  /** Name of the instrumentation. */
  scope: string;
  traceState: string | null;
  events: readonly SpanEvent[];
  links: readonly SpanLink[];
};
