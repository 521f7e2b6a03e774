// An export request as it was sent, protobuf or JSON, before anything is believed. The fields are those of the OTLP JSON
// mapping; what a value may be is wider than the specification, because exporters in the field are (see values.ts).

import protobuf from 'protobufjs';
import { AnswerError } from '../../platform/errors';
import { singleton } from '../../platform/singleton';
import descriptor from './proto/descriptor.json';

/** 64-bit integers as protobufjs reads them: two halves, so that nanoseconds keep their low bits. */
export type Long = { low: number; high: number };

export type WireValue = {
  stringValue?: unknown;
  boolValue?: unknown;
  intValue?: unknown;
  doubleValue?: unknown;
  arrayValue?: { values?: unknown } | null;
};
export type WireAttribute = { key?: unknown; value?: WireValue | null };
export type WireEvent = { name?: unknown; timeUnixNano?: unknown; attributes?: unknown };
export type WireLink = { traceId?: unknown; spanId?: unknown };
export type WireSpan = {
  traceId?: unknown;
  spanId?: unknown;
  parentSpanId?: unknown;
  traceState?: unknown;
  name?: unknown;
  kind?: unknown;
  startTimeUnixNano?: unknown;
  endTimeUnixNano?: unknown;
  attributes?: unknown;
  events?: unknown;
  links?: unknown;
  status?: { code?: unknown } | null;
};
export type WireScopeSpans = {
  scope?: { name?: unknown } | null;
  instrumentationLibrary?: { name?: unknown } | null;
  spans?: unknown;
};
export type WireResourceSpans = {
  resource?: { attributes?: unknown } | null;
  scopeSpans?: unknown;
  /** Exporters before 0.28. */
  instrumentationLibrarySpans?: unknown;
};
export type WireRequest = { resourceSpans: readonly WireResourceSpans[] };

const SERVICE = 'opentelemetry.proto.collector.trace.v1';

function messages() {
  return singleton('otlp messages', () => {
    const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace);
    return {
      request: root.lookupType(`${SERVICE}.ExportTraceServiceRequest`),
      response: root.lookupType(`${SERVICE}.ExportTraceServiceResponse`),
    };
  });
}

/** Throws AnswerError 400 when the bytes are not an ExportTraceServiceRequest. */
export function decodeProtobuf(body: Uint8Array): WireRequest {
  try {
    return messages().request.decode(body) as unknown as WireRequest;
  } catch (error) {
    throw new AnswerError({
      status: 400,
      code: 'not_protobuf',
      message: `The body is not an ExportTraceServiceRequest: ${(error as Error).message}`,
      hint: 'Send protobuf as application/x-protobuf, JSON as application/json.',
    });
  }
}

/** Bytes of an ExportTraceServiceResponse; none when everything was taken. */
export function encodePartialSuccess(partialSuccess: { rejectedSpans: number; errorMessage: string } | null): Buffer {
  const { response } = messages();
  return Buffer.from(response.encode(partialSuccess === null ? {} : { partialSuccess }).finish());
}

/** Throws AnswerError 400 when the text is not JSON or not an export request. */
export function parseJson(text: string): WireRequest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badJson(`The body is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null) throw badJson('The body is not an object.');
  const request = ('resource_spans' in value ? camelCased(value) : value) as { resourceSpans?: unknown };
  if (request.resourceSpans === undefined) return { resourceSpans: [] }; // an empty export
  if (!Array.isArray(request.resourceSpans)) throw badJson('resourceSpans is not an array.');
  return { resourceSpans: request.resourceSpans };
}

function badJson(message: string): AnswerError {
  const hint = 'Send an OTLP ExportTraceServiceRequest: {"resourceSpans": [...]}.';
  return new AnswerError({ status: 400, code: 'not_json', message, hint });
}

/** Writers that keep the names of the .proto files (resource_spans): the same object in camel case. */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelCased(child),
    ]),
  );
}
