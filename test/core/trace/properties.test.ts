// Random requests of which every term is known: with agreeing clocks each term within 1 ms, with clocks up to half a
// second apart within 5 ms; they add up exactly, nothing is negative, and the order of arrival does not matter.
// And random nonsense: whatever the spans say, what comes out adds up.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TimedRequest, unattributedUs } from '../../../lib/core/request';
import { MEASURED_TERMS } from '../../../lib/core/terms';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { SPAN_KINDS, type Span } from '../../../lib/core/trace/span';
import { CHAT, onlyRequest, POST } from '../../support/drawing';
import { type Plan, perform, plans } from '../../support/knownTrace';

const RUNS = { numRuns: 400, seed: 7 };

function expectSound(request: TimedRequest): void {
  for (const us of request.terms)
    if (us !== null && !(Number.isInteger(us) && us >= 0)) expect.fail(`term of ${us} µs`);
  const rest = unattributedUs(request);
  if (rest < 0) expect.fail(`${rest} µs too much`);
  if (request.ttftUs !== null) expect(request.ttftUs + request.decodeUs!).toBe(request.e2eUs);
}

function expectTruth(plan: Plan, toleranceUs: number): void {
  const { spans, truth, e2eUs, ttftUs } = perform(plan);
  const { request, steps } = onlyRequest(spans);
  expectSound(request);
  expect(request.e2eUs).toBe(e2eUs);
  expect(steps).toBeGreaterThanOrEqual(plan.steps.filter((step) => step.is === 'call').length);
  if (ttftUs === null) expect(request.ttftUs).toBeNull();
  else
    expect(Math.abs(Number(request.ttftUs) - ttftUs), `ttft ${request.ttftUs}, true ${ttftUs}`).toBeLessThanOrEqual(
      toleranceUs,
    );
  MEASURED_TERMS.forEach((term, i) => {
    const found = request.terms[i] ?? 0;
    const known = truth[term] ?? 0;
    expect(Math.abs(found - known), `${term} ${found}, true ${known}`).toBeLessThanOrEqual(toleranceUs);
  });
}

describe('known requests', () => {
  it('each term within 1 ms when the clocks agree', () => {
    fc.assert(
      fc.property(plans(fc.constant(0)), (plan) => expectTruth(plan, 1_000)),
      RUNS,
    );
  });

  it('each term within 5 ms when they are up to 500 ms apart', () => {
    const ahead = fc.oneof(fc.integer({ min: -500_000, max: 500_000 }), fc.constantFrom(-500_000, 0, 500_000));
    fc.assert(
      fc.property(plans(ahead), (plan) => expectTruth(plan, 5_000)),
      RUNS,
    );
  });

  it('are the same in any order and when spans come twice', () => {
    const order = fc.infiniteStream(fc.nat());
    fc.assert(
      fc.property(plans(fc.integer({ min: -500_000, max: 500_000 })), order, (plan, keys) => {
        const { spans } = perform(plan);
        const shuffled = [...spans, ...spans.slice(0, 3)]
          .map((span) => ({ span, key: keys.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ span }) => span);
        expect(attributeTrace({ spans: shuffled, rules: [] })).toEqual(attributeTrace({ spans, rules: [] }));
      }),
      { numRuns: 150, seed: 7 },
    );
  });
});

const attributes = fc.constantFrom(
  {},
  CHAT,
  POST,
  { 'messaging.system': 'redis' },
  { 'gen_ai.request.model': 'm' },
  { ...CHAT, 'gen_ai.response.time_to_first_chunk': 0.2 },
  { ...CHAT, 'http.response.status_code': 500 },
  { 'isochrone.term': 'queue' },
  { 'faas.coldstart': true, 'faas.init_duration': 0.3 },
  { 'gen_ai.request.model': 'm', 'gen_ai.latency.time_in_queue': 9 },
  { ...CHAT, 'gen_ai.request.stream': false, 'http.response.header.openai-processing-ms': ['40'] },
);

/** Spans with parents, times and kinds at random, their own parents included. */
const nonsense = fc.array(
  fc.record({
    parent: fc.option(fc.nat(14)),
    kind: fc.constantFrom(...SPAN_KINDS),
    name: fc.constantFrom('a', 'tcp.connect', 'model load', 'queue', 'route', 'attempt 1', 'middleware', 'turn'),
    startUs: fc.integer({ min: 0, max: 600_000 }),
    lengthUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 600_000 })),
    service: fc.constantFrom('a', 'b', 'c'),
    status: fc.constantFrom('unset' as const, 'error' as const),
    attributes,
    link: fc.option(fc.nat(14)),
  }),
  { minLength: 1, maxLength: 15 },
);

it('nonsense adds up, too, and never throws', () => {
  const idOf = (at: number) => (at + 1).toString(16).padStart(16, '0');
  fc.assert(
    fc.property(nonsense, (drawn) => {
      const spans = drawn.map(
        (one, at): Span => ({
          ...{
            traceId: 'ab'.repeat(16),
            spanId: idOf(at),
            parentSpanId: one.parent === null ? null : idOf(one.parent),
          },
          ...{ name: one.name, kind: one.kind, status: one.status, attributes: one.attributes },
          ...{ startUs: one.startUs, endUs: one.startUs + one.lengthUs, traceState: null, events: [], scope: '' },
          resource: { 'service.name': one.service, 'host.name': one.service },
          links: one.link === null ? [] : [{ traceId: 'ab'.repeat(16), spanId: idOf(one.link) }],
        }),
      );
      const { requests, ignored } = attributeTrace({ spans, rules: [] });
      for (const { request } of requests) expectSound(request);
      expect(requests.length + ignored.length).toBeGreaterThan(0);
      expect(attributeTrace({ spans: [...spans].reverse(), rules: [] })).toEqual({ requests, ignored });
    }),
    { numRuns: 3_000, seed: 7 },
  );
});

describe('the largest traces that assembly hands over, 2,000 spans', () => {
  const spanAt = (at: number, more: Partial<Span>): Span => ({
    ...{ traceId: 'ab'.repeat(16), spanId: (at + 1).toString(16).padStart(16, '0'), parentSpanId: null, name: 'POST' },
    ...{ kind: 'client' as const, startUs: at, endUs: 20_000 - at, status: 'unset' as const, attributes: CHAT },
    ...{ resource: { 'service.name': 'a' }, scope: '', traceState: null, events: [], links: [] },
    ...more,
  });
  const idOf = (at: number) => (at + 1).toString(16).padStart(16, '0');
  const server = { kind: 'server' as const, attributes: POST, endUs: 20_000 };

  it.each<[string, (at: number) => Partial<Span>]>([
    ['each in the one before', (at) => ({ parentSpanId: idOf(at - 1) })],
    [
      'each on another host than the one before',
      (at) => ({ parentSpanId: idOf(at - 1), resource: { 'service.name': `s${at}` } }),
    ],
    ['one after the other', (at) => ({ parentSpanId: idOf(0), startUs: at * 10, endUs: at * 10 + 9 })],
    ['all at once', () => ({ parentSpanId: idOf(0) })],
    ['all failing', (at) => ({ parentSpanId: idOf(0), startUs: at * 10, endUs: at * 10 + 9, status: 'error' })],
  ])('%s', (_, more) => {
    const spans = Array.from({ length: 2_000 }, (_one, at) => spanAt(at, at === 0 ? server : more(at)));
    const { request } = onlyRequest(spans);
    expectSound(request);
    expect(request.calls.length).toBeLessThanOrEqual(64);
  });
});
