// What real clients sent, byte for byte, against what the recorder knew. Beside that, the whole of each request is a
// golden file; after a change that is meant: npm run test:golden
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unattributedUs } from '../../../lib/core/request';
import type { TracedRequest } from '../../../lib/core/trace/attributed';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { brokerUsesOf } from '../../../lib/core/trace/brokers';
import type { Span } from '../../../lib/core/trace/span';
import { captureNames, expectedOf, readCapture } from '../../support/captures';
import { type ExpectedRequest, expectedRequests } from '../../support/expectedRequests';
import { byTrace, captureSpans, requestsOf, termMs, termsMs, workersOf } from '../../support/traces';

const golden = path.resolve(import.meta.dirname, '../../data/golden/traces');
const traced = captureNames().filter((name) => readCapture(name).some((post) => post.path === '/v1/traces'));

type Pair = { key: string; want: ExpectedRequest; is: TracedRequest; spans: Span[] };

/** Each request that was expected, with the one that was made of its spans. */
function pairs(name: string): Pair[] {
  const all = captureSpans(name);
  const requests = requestsOf(all);
  return expectedRequests(name, all).map((want) => {
    const overlapMs = ({ request: { startedAtUs, e2eUs } }: TracedRequest) =>
      Math.min((startedAtUs + e2eUs) / 1_000, want.startMs + want.e2eMs) - Math.max(startedAtUs / 1_000, want.startMs);
    const candidates = requests.filter(({ request }) => want.traceId === null || request.traceId === want.traceId);
    const [is] = candidates.sort((a, b) => overlapMs(b) - overlapMs(a));
    expect(is && overlapMs(is), `${name} ${want.key}: nothing was made of it`).toBeGreaterThan(0);
    return { key: want.key, want, is: is!, spans: all.filter((span) => span.traceId === is!.request.traceId) };
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

const names = (span: Span, pattern: RegExp) => Object.entries(span.attributes).filter(([name]) => pattern.test(name));
const msOf = (span: Span, value: unknown): number[] => {
  const number = Number(value);
  if (Number.isFinite(number)) return [number, number * 1_000];
  return [Date.parse(String(value).replaceAll('"', '')) - span.startUs / 1_000];
};

// Everything here comes from expected.json and from what was sent; there is no list of exceptions
describe.each(captureNames())('%s gives what its expected.json states', (name) => {
  const found = pairs(name);

  it('requests: one for each that was made', () => {
    const { extraWarmupTrace = 0 } = expectedOf<{ extraWarmupTrace?: number }>(name);
    expect(new Set(found.map(({ is }) => is.request.id)).size).toBe(found.length);
    expect(requestsOf(captureSpans(name)).length).toBe(found.length + extraWarmupTrace);
  });

  it('e2e: ends when its client saw the end, and begins between asking and the call’s arrival', () => {
    for (const { key, want, is } of found) {
      const { startedAtUs, e2eUs } = is.request;
      const startMs = startedAtUs / 1_000;
      const endMs = startMs + e2eUs / 1_000;
      // The first call of a process also loads code before any span can start
      const arrivedMs = Math.max(want.startMs + 5, want.served[0]?.arrivedUnixMs ?? 0);
      expect(Math.abs(endMs - want.startMs - want.e2eMs), `${key} ends`).toBeLessThanOrEqual(10);
      expect(startMs, `${key} starts`).toBeGreaterThanOrEqual(want.startMs - 6);
      expect(startMs, `${key} starts`).toBeLessThanOrEqual(arrivedMs + 5);
      const slackMs = Math.max(10, arrivedMs - want.startMs);
      expect(Math.abs(e2eUs / 1_000 - want.e2eMs), `${key} e2e`).toBeLessThanOrEqual(slackMs);
    }
  });

  it('TTFT: as its client saw it where a span tells that, else null', () => {
    for (const { key, want, is, spans } of found) {
      const told = spans
        .flatMap((span) => names(span, /first|completion_start/i).flatMap(([, value]) => msOf(span, value)))
        .some((ms) => want.ttftMs !== null && Math.abs(ms - want.ttftMs) <= 25);
      if (!told) expect(is.request.ttftUs, key).toBeNull();
      else expect(Math.abs(is.request.ttftUs! / 1_000 - want.ttftMs!), `${key} ttft`).toBeLessThanOrEqual(20);
    }
  });

  it('model, where a span of it names one', () => {
    for (const { key, want, is, spans } of found) {
      const model = want.served.at(-1)?.model;
      if (model === undefined) continue;
      const told = spans.some((span) => names(span, /model/i).some(([, value]) => String(value).startsWith(model)));
      if (told) expect(is.request.dims.model, key).toMatch(new RegExp(`^${model}`));
      else expect(is.request.dims.model, key).toBeNull();
    }
  });

  it('tokens, where a span of it tells them', () => {
    for (const { key, want, is, spans } of found) {
      const served = want.served.findLast((one) => one.status === 200);
      const told = spans
        .flatMap((span) => names(span, /(output|completion).?tokens$|token_count\.completion$/i))
        .map(([, value]) => Number(value));
      const { outputTokens } = is.request;
      // Answers that stream tell no usage unless asked to: libraries then count with a tokenizer of their own
      const stated = served?.stream === true ? null : (served?.outputTokens ?? null);
      if (told.length === 0) expect(outputTokens, key).toBeNull();
      else expect(stated === null ? told : [stated], key).toContain(outputTokens);
    }
  });

  it('outcome', () => {
    for (const { key, want, is } of found) expect(is.request.outcome, key).toBe(want.outcome);
  });
});

it.each(['otel20-openai', 'otel20-openai-response-headers', 'vercel-ai6'])(
  '%s: a 429 and its back-off are retry, not model, and no second request',
  (name) => {
    const { is, want } = pairs(name).find((pair) => pair.key === 'retry429')!;
    const [first, second] = want.served;
    expect(Math.abs(termMs(is.request, 'retry')! - (second!.arrivedUnixMs - first!.arrivedUnixMs))).toBeLessThan(5);
    expect(termMs(is.request, 'model')!).toBeLessThan(second!.serverTotalMs + 20);
    expect(is.request.calls.map((call) => call.attempts)).toEqual([2]);
  },
);

type Truth = { traceId: string; e2eMs: number; queueMs: number; queueWaitMs: number };
type Parts = Truth & { networkMs: number; routingMs: number; modelApiCallMs: number; otherMs: number };

describe('distributed-3svc', () => {
  const truth = expectedOf<{ perRequest: Parts[] }>('distributed-3svc').perRequest;
  const requests = new Map(requestsOf(captureSpans('distributed-3svc')).map((is) => [is.request.traceId, is]));

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
    for (const { traceId, queueWaitMs } of expectedOf<{ perRequest: Truth[] }>('queue-bullmq-otel').perRequest) {
      const request = requests.get(traceId)!;
      expect(Math.abs(termMs(request, 'queue')! - queueWaitMs)).toBeLessThanOrEqual(3);
    }
  });

  it('queue-bullmq-ioredis-only: the wait is missing, not 0, and what it took is unattributed', () => {
    const requests = new Map(
      requestsOf(captureSpans('queue-bullmq-ioredis-only')).map((is) => [is.request.traceId, is.request]),
    );
    const truth = expectedOf<{ perRequest: Truth[] }>('queue-bullmq-ioredis-only').perRequest;
    for (const { traceId } of truth) {
      const request = requests.get(traceId)!;
      expect(termMs(request, 'queue')).toBeNull();
      expect(termMs(request, 'model')).toBeNull();
      expect(unattributedUs(request) / request.e2eUs).toBeGreaterThan(0.85);
    }
  });

  it('queue-bullmq-ioredis-only: the worker’s calls are nobody’s own requests, and it is said why', () => {
    const spans = captureSpans('queue-bullmq-ioredis-only');
    const uses = byTrace(spans).flatMap(brokerUsesOf);
    expect(uses.filter((use) => use.sends).length).toBe(8 * 2);
    const workers = workersOf(uses);
    expect([...workers].map((name) => name.split('|')[0])).toEqual(['chat-worker']);
    const ignored = byTrace(spans).flatMap((trace) => attributeTrace({ spans: trace, rules: [], workers }).ignored);
    expect(ignored.filter(({ reason }) => reason === 'lost_context').length).toBe(8);
    // Who wants to see them says so
    const rules = [
      { when: [{ attribute: 'span.name', is: 'prefix' as const, value: 'chat ' }], set: { endpoint: 'jobs' } },
    ];
    const wanted = byTrace(spans).flatMap((trace) => attributeTrace({ spans: trace, rules, workers }).requests);
    expect(wanted.filter(({ request }) => request.dims.endpoint === 'jobs').length).toBe(8);
  });
});
