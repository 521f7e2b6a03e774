// What real clients sent, byte for byte, against what the recorder knew. Beside that, the whole of each request is a
// golden file; after a change that is meant: npx vitest run --project pure test/core/trace/captures.test.ts -u
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unattributedUs } from '../../../lib/core/request';
import type { TracedRequest } from '../../../lib/core/trace/attributed';
import { captureNames, expectedOf, readCapture } from '../../support/captures';
import { captureSpans, requestsOf, termMs, termsMs } from '../../support/traces';

const golden = path.resolve(import.meta.dirname, '../../data/golden/traces');
const traced = captureNames().filter((name) => readCapture(name).some((post) => post.path === '/v1/traces'));

type Observed = {
  key: string;
  startMs: number;
  endMs: number;
  e2eMs: number;
  ttftMs?: number;
  ok?: boolean;
  status?: unknown;
};
type Served = {
  key: string;
  serverTotalMs: number;
  outputTokens?: number;
  arrivedUnixMs: number;
  model: string;
  status: number;
};
type Expected = { clientObserved: Observed[][]; perRequest: Served[] };

/** Each request with what the client that made it saw. */
function pairs(name: string): { seen: Observed; is: TracedRequest; served: Served[] }[] {
  const expected = expectedOf<Expected>(name);
  return requestsOf(captureSpans(name)).map((is) => {
    const startMs = is.request.startedAtUs / 1_000;
    const endMs = startMs + is.request.e2eUs / 1_000;
    const overlapMs = (one: Observed) => Math.min(endMs, one.startMs + one.e2eMs) - Math.max(startMs, one.startMs);
    const [seen] = expected.clientObserved.flat().sort((a, b) => overlapMs(b) - overlapMs(a));
    expect(overlapMs(seen!), `${name}: nobody made the request at ${startMs}`).toBeGreaterThan(0);
    return { seen: seen!, is, served: (expected.perRequest ?? []).filter((one) => one.key === seen!.key) };
  });
}

function wholeOf({ request, steps, notes }: TracedRequest) {
  const { terms: _terms, evidence: _evidence, ...rest } = request;
  return { ...rest, termsMs: termsMs(request), steps, notes };
}

describe.each(traced)('%s', (name) => {
  it('is what the golden file says', async () => {
    const whole = requestsOf(captureSpans(name)).map(wholeOf);
    await expect(`${JSON.stringify(whole, null, 1)}\n`).toMatchFileSnapshot(path.join(golden, `${name}.json`));
  });

  it('adds up, and nothing is negative', () => {
    for (const { request } of requestsOf(captureSpans(name))) {
      expect(unattributedUs(request)).toBeGreaterThanOrEqual(0);
      for (const us of request.terms) expect(us ?? 0).toBeGreaterThanOrEqual(0);
      expect((request.ttftUs ?? request.e2eUs) + (request.ttftUs === null ? 0 : request.decodeUs!)).toBe(request.e2eUs);
    }
  });

  it('is the same in any order, and when every batch comes twice', () => {
    const spans = captureSpans(name);
    const once = requestsOf(spans);
    expect(requestsOf([...spans].reverse())).toEqual(once);
    expect(requestsOf([...spans, ...spans])).toEqual(once);
  });
});

// Requests that were seen; what a library gave no span for (failed calls, embeddings) cannot be
const CLIENTS: [name: string, requests: number, ttft: 'told' | 'not told'][] = [
  ['arize-openinference', 6, 'not told'],
  ['browser-fetch', 6, 'not told'],
  ['legacy-otlp-0.41.2-json', 2, 'not told'],
  ['legacy-otlp-0.57.2-proto', 2, 'not told'],
  ['otel20-http-json-gzip', 3, 'not told'],
  ['otel20-http-protobuf-none', 3, 'not told'],
  ['otel20-openai', 7, 'not told'],
  ['otel20-openai-response-headers', 7, 'not told'],
  ['otel20-retry-duplicate-batch', 3, 'not told'],
  ['otel22-http-json-none', 3, 'not told'],
  ['otel22-http-protobuf-gzip', 3, 'not told'],
  ['traceloop', 5, 'not told'],
  ['vercel-ai6', 7, 'told'],
  ['vercel-ai7', 7, 'told'],
];

describe.each(CLIENTS)('%s against what its client saw', (name, count, ttft) => {
  const seen = pairs(name);

  it(`holds ${count} requests, one for each that was made`, () => {
    expect(seen.length).toBe(count);
    expect(new Set(seen.map((pair) => pair.seen.key)).size).toBe(count);
  });

  it('has their e2e: at least what the server took, and within 10 ms of what the client saw', () => {
    seen.forEach(({ seen: { e2eMs, key }, is, served }, i) => {
      const ms = is.request.e2eUs / 1_000;
      expect(ms, key).toBeLessThanOrEqual(e2eMs + 6);
      // The first call of a process also loads code before any span can start
      if (i > 0) expect(Math.abs(ms - e2eMs), `${key}: ${ms}, seen ${e2eMs}`).toBeLessThanOrEqual(10);
      if (served.length === 1 && served[0]!.serverTotalMs)
        expect(ms, key).toBeGreaterThanOrEqual(served[0]!.serverTotalMs - 5);
    });
  });

  it('has their outcome', () => {
    for (const { seen: one, is } of seen) {
      const isFine = one.ok !== false && typeof one.status !== 'number';
      if (one.key === 'abort') expect(is.request.outcome).toBe('cancelled');
      else expect(is.request.outcome, one.key).toBe(isFine ? 'ok' : 'error');
    }
  });

  it('has a first output where one is told, and null where not', () => {
    for (const { seen: one, is } of seen) {
      if (ttft === 'not told' || one.ttftMs === undefined) expect(is.request.ttftUs, one.key).toBeNull();
      // stream1 is the first to stream: its client had to load code between the two moments
      else expect(Math.abs(is.request.ttftUs! / 1_000 - one.ttftMs), one.key).toBeLessThanOrEqual(20);
    }
  });

  it('has model and tokens as the library told them', () => {
    for (const { seen: one, is, served } of seen) {
      const answered = served.find((s) => s.status === 200);
      if (is.request.dims.model !== null && answered)
        expect(is.request.dims.model).toMatch(new RegExp(`^${answered.model}`));
      // Traceloop counts the tokens of a stream twice
      if (
        is.request.outputTokens === null ||
        !answered?.outputTokens ||
        (name === 'traceloop' && one.key.startsWith('stream'))
      )
        continue;
      expect(is.request.outputTokens, one.key).toBe(answered.outputTokens);
    }
  });
});

it.each(['otel20-openai', 'otel20-openai-response-headers', 'vercel-ai6'])(
  '%s: a 429 and its back-off are retry, not model, and no second request',
  (name) => {
    const { is, served } = pairs(name).find((pair) => pair.seen.key === 'retry429')!;
    const [first, second] = served;
    expect(Math.abs(termMs(is.request, 'retry')! - (second!.arrivedUnixMs - first!.arrivedUnixMs))).toBeLessThan(5);
    expect(termMs(is.request, 'model')!).toBeLessThan(second!.serverTotalMs + 20);
    expect(is.request.calls.map((call) => call.attempts)).toEqual([2]);
  },
);

it('otel22-openai: an instrumentation that does not know its library still gives the HTTP calls, failures included', () => {
  const requests = requestsOf(captureSpans('otel22-openai')).map(({ request }) => request);
  expect(requests.map((r) => r.outcome)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'error', 'ok', 'error']);
  expect(requests.map((r) => r.dims.model)).toEqual(Array(8).fill(null));
});

type Truth = { traceId: string; e2eMs: number; queueMs: number; queueWaitMs: number };
type Parts = Truth & { networkMs: number; routingMs: number; modelApiCallMs: number; otherMs: number };

describe('distributed-3svc', () => {
  const truth = expectedOf<{ perRequest: Parts[] }>('distributed-3svc').perRequest;
  const requests = new Map(requestsOf(captureSpans('distributed-3svc')).map((is) => [is.request.traceId, is]));

  it('holds its 60 requests and the one to warm up; pollers are none', () => {
    expect(requests.size).toBe(61);
    for (const { traceId } of truth) expect(requests.has(traceId)).toBe(true);
  });

  it.each(truth.map((one) => [one.traceId, one] as const))('%s: every term within 5 ms', (traceId, one) => {
    const { request } = requests.get(traceId)!;
    const sum = (...terms: (number | null)[]) => terms.reduce((total: number, ms) => total + (ms ?? 0), 0);
    const near = (ms: number, trueMs: number, what: string) =>
      expect(Math.abs(ms - trueMs), `${what} ${ms}, true ${trueMs}`).toBeLessThanOrEqual(5);
    near(request.e2eUs / 1_000, one.e2eMs, 'e2e');
    near(sum(termMs(request, 'network'), termMs(request, 'connection')), one.networkMs, 'network');
    near(sum(termMs(request, 'queue')), one.queueMs, 'queue');
    near(sum(termMs(request, 'routing')), one.routingMs, 'routing');
    near(sum(termMs(request, 'model'), termMs(request, 'modelHop')), one.modelApiCallMs, 'model call');
    near(sum(termMs(request, 'application'), unattributedUs(request) / 1_000), one.otherMs, 'other');
  });

  it('places: London to us-east-1', () => {
    for (const { request } of requests.values())
      expect(request.dims).toMatchObject({
        clientRegion: 'eu-west-2',
        serviceRegion: 'us-east-1',
        vantage: 'client',
        endpoint: 'POST /v1/infer',
      });
  });
});

describe('queues', () => {
  it('queue-bullmq-otel: every wait is seen', () => {
    const requests = new Map(
      requestsOf(captureSpans('queue-bullmq-otel')).map((is) => [is.request.traceId, is.request]),
    );
    expect(requests.size).toBe(8);
    for (const { traceId, queueWaitMs, e2eMs } of expectedOf<{ perRequest: Truth[] }>('queue-bullmq-otel').perRequest) {
      const request = requests.get(traceId)!;
      expect(Math.abs(request.e2eUs / 1_000 - e2eMs)).toBeLessThanOrEqual(5);
      expect(Math.abs(termMs(request, 'queue')! - queueWaitMs)).toBeLessThanOrEqual(3);
    }
  });

  it('queue-bullmq-ioredis-only: the wait is missing, not 0, and what it took is unattributed', () => {
    const requests = new Map(
      requestsOf(captureSpans('queue-bullmq-ioredis-only')).map((is) => [is.request.traceId, is.request]),
    );
    const truth = expectedOf<{ perRequest: Truth[] }>('queue-bullmq-ioredis-only').perRequest;
    for (const { traceId, e2eMs } of truth) {
      const request = requests.get(traceId)!;
      expect(Math.abs(request.e2eUs / 1_000 - e2eMs)).toBeLessThanOrEqual(5);
      expect(termMs(request, 'queue')).toBeNull();
      expect(termMs(request, 'model')).toBeNull();
      expect(unattributedUs(request) / request.e2eUs).toBeGreaterThan(0.85);
    }
    // The worker's model calls belong to nobody's trace: an endpoint of their own, not the API's
    const others = [...requests.values()].filter((r) => !truth.some((one) => one.traceId === r.traceId));
    expect(others.map((r) => r.dims.endpoint)).toEqual(Array(8).fill('chat gpt-4o-mini'));
  });
});
