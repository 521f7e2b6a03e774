import zlib from 'node:zlib';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { isKeptAttribute } from '../../../lib/core/trace/keptAttributes';
import type { Span } from '../../../lib/core/trace/span';
import { decodeSpans, decodeTraceIndex, encodeSpans, inflateBody } from '../../../lib/db/spanChunk';
import descriptor from '../../../lib/ingest/otlp/proto/descriptor.json';
import { describe as describeProto } from '../../../lib/ingest/otlp/proto/generate.mjs';
import { readSpans } from '../../../lib/ingest/otlp/readSpans';
import { readId, readTimeUs } from '../../../lib/ingest/otlp/values';
import { decodeProtobuf, parseJson } from '../../../lib/ingest/otlp/wire';
import { CAPTURED_MS, captureNames, readCapture } from '../../support/captures';

const TRACE = 'ff8162146512b7f1ab0a9c63b457a6f4';
const SPAN = '9e1cdeab6a846cf2';
const NOW_US = CAPTURED_MS * 1_000;
const [START, END] = ['1796097723847413349', '1796097723947413349'].map(Number);
const reading = { nowUs: NOW_US, keptToo: new Set<string>(), vantage: null };

const spanOf = (fields: object = {}) => ({
  traceId: TRACE,
  spanId: SPAN,
  name: 'chat',
  kind: 3,
  startTimeUnixNano: '1796097723847413349',
  endTimeUnixNano: '1796097723947413349',
  ...fields,
});
const request = (spans: unknown[], resource: object = {}) => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 's' }, spans }] }],
});
const read = (value: object) => readSpans(parseJson(JSON.stringify(value)), reading);
const first = (value: object): Span => read(value).spans[0]!;

/** All spans of a capture, as the receiver reads them. */
function spansOf(name: string): Span[] {
  return readCapture(name)
    .filter((post) => post.path === '/v1/traces')
    .flatMap((post) => {
      const body = post.contentEncoding === 'gzip' ? zlib.gunzipSync(post.body) : post.body;
      const wire = post.contentType.includes('json') ? parseJson(body.toString()) : decodeProtobuf(body);
      return readSpans(wire, reading).spans;
    });
}

describe('JSON as writers of the last years send it', () => {
  const plain = first(request([spanOf()]));

  it.each<[string, object]>([
    ['numbers for times, their low bits lost', spanOf({ startTimeUnixNano: START, endTimeUnixNano: END })],
    ['base64 ids', spanOf({ traceId: '/4FiFGUSt/GrCpxjtFem9A==', spanId: 'nhzeq2qEbPI=' })],
    ['upper-case ids', spanOf({ traceId: TRACE.toUpperCase(), spanId: SPAN.toUpperCase() })],
    ['kind by name', spanOf({ kind: 'SPAN_KIND_CLIENT' })],
    ['kind by short name', spanOf({ kind: 'client' })],
    ['an empty parent', spanOf({ parentSpanId: '' })],
    ['a parent of zeros', spanOf({ parentSpanId: '0000000000000000' })],
  ])('%s', (_, span) => {
    expect(first(request([span]))).toEqual(plain);
  });

  it('instrumentationLibrarySpans', () => {
    const old = {
      resourceSpans: [{ instrumentationLibrarySpans: [{ instrumentationLibrary: { name: 's' }, spans: [spanOf()] }] }],
    };
    expect(first(old)).toEqual(plain);
  });

  it('names of the .proto files', () => {
    const { traceId, spanId, name, kind, startTimeUnixNano, endTimeUnixNano } = spanOf();
    const span = { trace_id: traceId, span_id: spanId, name, kind, start_time_unix_nano: startTimeUnixNano };
    const spans = [{ ...span, end_time_unix_nano: endTimeUnixNano }];
    expect(first({ resource_spans: [{ scope_spans: [{ scope: { name: 's' }, spans }] }] })).toEqual(plain);
  });

  it('integers as text or number, doubles, booleans, lists; what is not kept is not there', () => {
    const attributes = [
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '12' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: 7 } },
      { key: 'gen_ai.response.time_to_first_chunk', value: { doubleValue: 0.25 } },
      { key: 'faas.coldstart', value: { boolValue: false } },
      { key: 'http.response.header.openai-processing-ms', value: { arrayValue: { values: [{ stringValue: '251' }] } } },
      { key: 'gen_ai.prompt.0.content', value: { stringValue: 'my secret' } },
      { key: 'http.response.header.set-cookie', value: { stringValue: 'my secret' } },
      { key: 'service.name', value: null },
      null,
    ];
    expect(first(request([spanOf({ attributes })])).attributes).toEqual({
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.response.time_to_first_chunk': 0.25,
      'faas.coldstart': false,
      'http.response.header.openai-processing-ms': ['251'],
    });
  });

  it('addresses lose query and credentials, text loses NUL and half surrogates', () => {
    const attributes = [
      { key: 'url.full', value: { stringValue: 'https://user:pw@api.example.com/v1/chat?key=secret#x' } },
      { key: 'gen_ai.request.model', value: { stringValue: 'gpt\0-4o\ud800' } },
    ];
    expect(first(request([spanOf({ attributes, name: 'a\0b' })]))).toMatchObject({
      name: 'ab',
      attributes: { 'url.full': 'https://api.example.com/v1/chat', 'gen_ai.request.model': 'gpt-4o\ufffd' },
    });
  });
});

describe('one bad span', () => {
  it.each<[string, unknown]>([
    ['trace_id', spanOf({ traceId: 'zz' })],
    ['trace_id', spanOf({ traceId: '0'.repeat(32) })],
    ['span_id', spanOf({ spanId: null })],
    ['no_start', spanOf({ startTimeUnixNano: 0 })],
    ['no_end', spanOf({ endTimeUnixNano: undefined })],
    ['too_old', spanOf({ startTimeUnixNano: '1700000000000000000', endTimeUnixNano: '1700000000000000000' })],
    ['future', spanOf({ endTimeUnixNano: '1896097723947413349' })],
    ['not_a_span', 7],
  ])('%s: left out with its reason, the rest is taken', (reason, span) => {
    const { spans, rejected } = read(request([spanOf(), span]));
    expect(spans).toHaveLength(1);
    expect([...rejected]).toEqual([[reason, 1]]);
  });

  it('an end before the start is a span of no length', () => {
    const span = first(request([spanOf({ endTimeUnixNano: '1796097723847000000' })]));
    expect(span.endUs).toBe(span.startUs);
  });

  it.each([null, 7, 'x', [], {}, { scopeSpans: 3 }, { scopeSpans: [null, { spans: {} }] }])('shape %j', (part) => {
    expect(read({ resourceSpans: [part, ...request([spanOf()]).resourceSpans] }).spans).toHaveLength(1);
  });
});

describe('values', () => {
  it('times are exact to the microsecond', () => {
    expect(readTimeUs('1796097723847413349')).toBe(1_796_097_723_847_413);
    expect(readTimeUs('1796097723847413501')).toBe(1_796_097_723_847_414);
    expect(readTimeUs({ low: 0xffffffff | 0, high: 418_187_000 })).toBe(
      Math.round((418_187_000 * 2 ** 32 + 2 ** 32 - 1) / 1_000),
    );
    for (const bad of [0, '0', '', 'x', -5, null, undefined, Number.NaN, {}]) expect(readTimeUs(bad)).toBeNull();
  });

  it('ids of the wrong length are no ids', () => {
    for (const bad of ['', 'abc', 'g'.repeat(32), new Uint8Array(8), 5, null]) expect(readId(bad, 16)).toBeNull();
  });
});

describe('captures', () => {
  const traces = captureNames().filter((name) => readCapture(name).some((post) => post.path === '/v1/traces'));

  it.each(traces)('%s: every span is read; stored and read back it is the same', async (name) => {
    const spans = spansOf(name);
    expect(spans.length).toBeGreaterThan(0);
    const row = await encodeSpans(spans);
    const inflated = await inflateBody(row);
    const back = decodeTraceIndex(row.traceIndex).flatMap((entry) => {
      const ofTrace = decodeSpans(inflated, entry);
      expect(ofTrace.length).toBe(entry.spans);
      expect(ofTrace.some((span) => span.parentSpanId === null)).toBe(entry.rooted);
      return ofTrace;
    });
    const byTrace = [...new Set(spans.map((s) => s.traceId))].flatMap((id) => spans.filter((s) => s.traceId === id));
    expect(back).toEqual(byTrace);
  });

  it('distributed: 979 spans of 63 traces, parents known, in two encodings', () => {
    const spans = spansOf('distributed-3svc');
    expect(spans.length).toBe(979);
    expect(new Set(spans.map((s) => s.traceId)).size).toBe(63);
    const ids = new Set(spans.map((s) => `${s.traceId}/${s.spanId}`));
    expect(spans.filter((s) => s.parentSpanId !== null && !ids.has(`${s.traceId}/${s.parentSpanId}`))).toEqual([]);
  });

  it('no prompt, answer or query is kept', () => {
    const text = JSON.stringify(traces.flatMap(spansOf));
    expect(text).not.toMatch(
      /gen_ai\.prompt|llm\.input_messages|ai\.prompt|ai\.response\.text|db\.query\.text|input\.value/,
    );
    expect(text).not.toMatch(/user_agent\.original|"client\.address"/);
  });
});

describe('what is kept', () => {
  it.each([
    'gen_ai.input.messages',
    'gen_ai.prompt.0.content',
    'gen_ai.completion.0.content',
    'gen_ai.system_instructions',
    'gen_ai.tool.call.arguments',
    'llm.input_messages.0.message.content',
    'llm.output_messages.0.message.content',
    'llm.prompts',
    'input.value',
    'output.value',
    'ai.prompt.messages',
    'ai.response.text',
    'ai.toolCall.args',
    'traceloop.entity.input',
    'langfuse.observation.input',
    'db.query.text',
    'db.statement',
    'http.request.header.authorization',
    'http.response.header.set-cookie',
    'user_agent.original',
    'client.address',
    'enduser.id',
    'exception.message',
    'exception.stacktrace',
    'url.query',
    'lk.user_transcript',
    'lk.chat_ctx',
  ])('never %s', (name) => expect(isKeptAttribute(name)).toBe(false));
});

describe('descriptor.json', () => {
  it('is what the .proto files say', () => {
    expect(descriptor, 'run: node lib/ingest/otlp/proto/generate.mjs').toEqual(describeProto());
    expect(
      protobuf.Root.fromJSON(descriptor as protobuf.INamespace).lookupType('opentelemetry.proto.trace.v1.Span'),
    ).toBeTruthy();
  });
});
