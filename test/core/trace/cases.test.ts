// Every rule of attribution as a drawing. A column is 10 ms where nothing else is said.
import { describe, expect, it } from 'vitest';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { CHAT, draw, FAILED, onlyRequest, POST } from '../../support/drawing';
import { termMs, termsMs } from '../../support/traces';

const terms = (spans: ReturnType<typeof draw>) => termsMs(onlyRequest(spans).request);
const QUEUED = { 'messaging.system': 'redis', 'messaging.destination.name': 'jobs' };

describe('the path within one process', () => {
  it('children that touch follow each other, also when time starts at 0', () => {
    const spans = draw(
      `
      infer      server   llm  |----------|
        queue    internal llm  |-|
        prefill  internal llm    |-|
        chat     client   llm      |------|`,
      { originUs: 0, attributes: { infer: POST, chat: CHAT } },
    );
    expect(spans[0]!.startUs).toBe(0);
    expect(terms(spans)).toEqual({ queue: 20, application: 20, model: 70 });
  });

  it('a span of no length takes no time, and hides nothing', () => {
    const spans = draw(
      `
      infer    server   app  |--------|
        check  internal app  |
        chat   client   app  |--------|
        log    internal app           |`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    expect(terms(spans)).toEqual({ model: 90 });
  });

  it('overlapping children share no moment: the union, not the sum', () => {
    const spans = draw(
      `
      infer   server   app  |--------------------|
        rag   internal app  |---------|
        tool  internal app       |----------|
        chat  client   app                  |----|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    expect(terms(spans)).toEqual({ application: 160, model: 50 });
  });

  it('CLIENT in CLIENT: agent, step, chat and its HTTP span are one call', () => {
    const spans = draw(
      `
      agent      internal app  |----------------|
        step     internal app   |--------------|
          chat   client   app    |------------|
            POST client   app     |----------|`,
      {
        attributes: {
          agent: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm' },
          step: { 'gen_ai.operation.name': 'agent_step' },
          chat: { ...CHAT, 'gen_ai.usage.input_tokens': 7 },
          POST: { 'http.request.method': 'POST', 'url.full': 'https://api.test/v1/chat/completions' },
        },
      },
    );
    const { request, steps } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ application: 40, model: 130 });
    expect({ steps, tokens: request.inputTokens, calls: request.calls.length }).toEqual({
      steps: 1,
      tokens: 7,
      calls: 1,
    });
  });

  it('starts rounded down to the millisecond: what sticks out by 2 ms is rounding', () => {
    const spans = draw(
      `
      infer  server   app  |--------|
        rag  internal app  |---------|
        chat client   app            |-|`,
      { columnMs: 1, attributes: { infer: POST, chat: CHAT } },
    );
    expect(terms(spans)).toEqual({ application: 9 });
  });

  it('what runs on after the answer kept nobody waiting', () => {
    const spans = draw(
      `
      infer    server   app  |----------|
        chat   client   app   |-------|
        audit  internal app         |----------------|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    // [0,10] and [90,110] are gaps that nothing names
    expect(terms(spans)).toEqual({ model: 80, unattributed: 30 });
  });

  it('a child that outlives its parent belongs to the ancestor it ends in', () => {
    const spans = draw(
      `
      infer          server   app  |------------|
        middleware   internal app  |--|
          handler    internal app    |----------|
            chat     client   app    |---------|`,
      { attributes: { infer: POST, chat: CHAT }, scopes: { middleware: '@opentelemetry/instrumentation-express' } },
    );
    expect(terms(spans)).toMatchObject({ model: 100, application: 10 });
  });
});

describe('between processes: CLIENT − SERVER', () => {
  const way = (regions: { app: string | null; gate: string; model?: string }, more: object = {}) =>
    draw(
      `
      ask          client app   |--------------------|
        infer      server gate      |------------|
          call     client gate       |----------|
            run    server model        |------|`,
      {
        attributes: { ask: POST, infer: POST, call: { 'http.request.method': 'POST' }, run: POST },
        resources: {
          app: regions.app === null ? {} : { 'cloud.region': regions.app },
          gate: { 'cloud.region': regions.gate },
          model: { 'cloud.region': regions.model ?? regions.gate },
        },
        ...more,
      },
    );

  it('is the network on the client’s leg, routing inside a region', () => {
    expect(terms(way({ app: 'eu-west-2', gate: 'us-east-1' }))).toMatchObject({ network: 80, routing: 50 });
  });

  it('is the backbone between regions when neither end is the client', () => {
    const spans = way({ app: 'eu-west-2', gate: 'us-east-1', model: 'us-west-2' });
    expect(terms(spans)).toMatchObject({ network: 80, backbone: 40, routing: 10 });
  });

  it.each([0, -500, 500, 41, 7_000])('is the same with a clock %d ms off: only durations count', (ms) => {
    const spans = way({ app: 'eu-west-2', gate: 'us-east-1' }, {});
    const skewed = way({ app: 'eu-west-2', gate: 'us-east-1' }, { aheadMs: { gate: ms, model: -ms } });
    const [is, was] = [onlyRequest(skewed), onlyRequest(spans)];
    expect(termMs(is.request, 'network')).toBe(termMs(was.request, 'network'));
    expect(is.notes.includes('skewed')).toBe(Math.abs(ms) > 40);
    if (Math.abs(ms) > 100) expect(Math.abs(is.skewUs['gate|||||']! / 1_000 - ms)).toBeLessThanOrEqual(40);
  });

  it('both regions of a long way are named, and it is not the model’s time', () => {
    const spans = draw(
      `
      ask        client app  |------------------|
        infer    server api     |-------------|
          chat   client api      |-----------|`,
      {
        attributes: { ask: POST, infer: POST, chat: CHAT },
        resources: { app: { 'cloud.region': 'eu-west-2' }, api: { 'cloud.region': 'us-east-1' } },
      },
    );
    const { request } = onlyRequest(spans);
    expect(request.dims).toMatchObject({
      clientRegion: 'eu-west-2',
      serviceRegion: 'us-east-1',
      endpoint: 'POST /infer',
    });
    expect(termsMs(request)).toMatchObject({ network: 50, model: 120 });
  });

  it('a server that outlives the caller that gave up was waited for until then', () => {
    const spans = draw(
      `
      ask      client app  |--------|
        infer  server api    |--------------------|
          chat client api    |-------------------|`,
      {
        attributes: { ask: { 'http.request.method': 'POST', 'http.response.status_code': 0 }, infer: POST, chat: CHAT },
      },
    );
    const { request } = onlyRequest(spans);
    expect(request).toMatchObject({ outcome: 'cancelled', e2eUs: 90_000 });
    expect(termMs(request, 'model')).toBeGreaterThan(60);
  });
});

describe('model calls', () => {
  it('a callee that is seen: the innermost gen_ai span is the model, the rest is the hop', () => {
    const spans = draw(
      `
      infer         server   app    |--------------------|
        chat        client   app    |--------------------|
          run       server   model     |---------------|
            compute internal model        |---------|`,
      { attributes: { infer: POST, chat: CHAT, run: POST, compute: { 'gen_ai.request.model': 'm' } } },
    );
    const { request } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ modelHop: 110, model: 100 });
    expect(request.calls).toMatchObject([{ stage: 'llm', hopUs: 110_000, modelUs: 100_000 }]);
  });

  it('a callee without a model span of its own is the model as a whole', () => {
    const spans = draw(
      `
      infer     server app    |--------------------|
        chat    client app    |--------------------|
          run   server model     |--------------|`,
      { attributes: { infer: POST, chat: CHAT, run: POST } },
    );
    expect(terms(spans)).toEqual({ modelHop: 60, model: 150 });
  });

  it('a provider that tells nothing: model with its edge and queue, and no hop, never all of it overhead', () => {
    const spans = draw(
      `
      infer   server app  |----------|
        chat  client app  |----------|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    const { request } = onlyRequest(spans);
    expect(termMs(request, 'model')).toBe(110);
    expect(termMs(request, 'modelHop')).toBeNull();
    expect(request.calls[0]).toMatchObject({ hopUs: null, modelUs: null });
  });

  const told = (more: object, ms = '80') =>
    draw(
      `
      infer    server app  |----------|
        chat   client app  |----------|
          POST client app  |----------|`,
      {
        attributes: {
          infer: POST,
          chat: { ...CHAT, ...more },
          POST: { 'http.request.method': 'POST', 'http.response.header.openai-processing-ms': [ms] },
        },
      },
    );

  it('a header tells the compute of a whole answer', () => {
    expect(terms(told({ 'gen_ai.request.stream': false }))).toEqual({ modelHop: 30, model: 80 });
  });

  it('of a stream it tells the time to the first byte, so it splits the first output only', () => {
    const spans = told({ 'gen_ai.request.stream': true, 'gen_ai.response.time_to_first_chunk': 0.09 });
    expect(terms(spans)).toEqual({ modelHop: 10, model: 80, decode: 20 });
  });

  it('it is not used when nobody knows whether the call streamed, nor when it is longer than the call', () => {
    expect(terms(told({}))).toEqual({ model: 110 });
    expect(terms(told({ 'gen_ai.request.stream': false }, '500'))).toEqual({ model: 110 });
  });

  it('a gateway tells its own work and how often it tried', () => {
    const header = (name: string) => `http.response.header.${name}`;
    const spans = draw(
      `
      infer  server app  |----------|
        chat client app  |----------|`,
      {
        attributes: {
          infer: POST,
          chat: {
            ...CHAT,
            'gen_ai.request.stream': false,
            [header('openai-processing-ms')]: ['80'],
            [header('x-litellm-overhead-duration-ms')]: ['6.5'],
            [header('x-litellm-attempted-retries')]: ['2'],
          },
        },
      },
    );
    const { request } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ routing: 6.5, modelHop: 23.5, model: 80 });
    expect(request.calls).toMatchObject([{ attempts: 3, hopUs: 23_500, modelUs: 80_000 }]);
  });

  it('between places that are known, at least a round trip is not the model', () => {
    const spans = draw(
      `
      infer   server app  |----------|
        chat  client app  |----------|`,
      {
        attributes: { infer: POST, chat: { ...CHAT, 'cloud.region': 'us-east-1' } },
        resources: { app: { 'cloud.region': 'eu-west-2' } },
      },
    );
    const { request } = onlyRequest(spans);
    expect(termMs(request, 'modelHop')).toBeGreaterThan(70);
    expect(termMs(request, 'modelHop')! + termMs(request, 'model')!).toBe(110);
    expect(request.dims.modelRegion).toBe('us-east-1');
  });

  it('set-up of a provider’s connection is part of the hop', () => {
    const spans = draw(
      `
      infer           server   app  |----------|
        chat          client   app  |----------|
          tcp.connect internal app   |--|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    expect(terms(spans)).toEqual({ modelHop: 30, model: 80 });
  });

  it('vLLM tells its own queue; a first output that includes it counts it once', () => {
    const spans = draw(
      `
      infer           server app   |--------------------|
        POST          client app   |--------------------|
          llm_request server vllm    |----------------|`,
      {
        attributes: {
          infer: POST,
          POST: { 'http.request.method': 'POST' },
          llm_request: {
            'gen_ai.request.model': 'm',
            'gen_ai.latency.time_in_queue': 0.05,
            'gen_ai.latency.time_to_first_token': 0.09,
          },
        },
      },
    );
    const { request } = onlyRequest(spans);
    // in 20, queue 50, prefill 40, back 20
    expect(termsMs(request)).toEqual({ modelHop: 40, queue: 50, model: 40, decode: 80 });
    expect(request.ttftUs).toBe(130_000);
  });
});

describe('retries', () => {
  it('429, back-off 250 ms, answer: retry until the attempt that answered began', () => {
    const spans = draw(
      `
      infer    server app  |-----------------------------------------|
        chat   client app  |-----------------------------------------|
          a    client app  ||
          b    client app                            |---------------|`,
      { attributes: { infer: POST, chat: CHAT, a: FAILED, b: POST } },
    );
    const { request, steps } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ retry: 260, model: 160 });
    expect({ steps, attempts: request.calls[0]!.attempts, outcome: request.outcome }).toEqual({
      steps: 1,
      attempts: 2,
      outcome: 'ok',
    });
  });

  it('falling back to another model is a retry, too', () => {
    const spans = draw(
      `
      infer     server app  |--------------------|
        first   client app  |-----|
        second  client app         |-------------|`,
      {
        attributes: { infer: POST, first: CHAT, second: { ...CHAT, 'gen_ai.request.model': 'other' } },
        status: { first: 'error' },
      },
    );
    const { request } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ retry: 70, model: 140 });
    expect(request.dims.model).toBe('other');
  });

  it('when every attempt fails the last one is the answer', () => {
    const spans = draw(
      `
      infer   server app  |--------------------|
        one   client app  |---|
        two   client app       |---|
        three client app             |---------|`,
      {
        attributes: { infer: { ...POST, 'http.response.status_code': 500 }, one: CHAT, two: CHAT, three: CHAT },
        status: { one: 'error', two: 'error', three: 'error' },
      },
    );
    const { request } = onlyRequest(spans);
    expect(termsMs(request)).toEqual({ retry: 110, model: 100 });
    expect(request).toMatchObject({ outcome: 'error', calls: [{ attempts: 3 }] });
  });

  it('a second call after a good one is a step, not a retry', () => {
    const spans = draw(
      `
      infer  server app  |--------------------|
        one  client app  |--------|
        two  client app           |-----------|`,
      { attributes: { infer: POST, one: CHAT, two: CHAT } },
    );
    const { request, steps } = onlyRequest(spans);
    expect({ terms: termsMs(request), steps }).toEqual({ terms: { model: 210 }, steps: 2 });
  });

  it('a job that failed and ran again: the wait once, then retry', () => {
    const spans = draw(
      `
      infer     server   api   |------------------------------|
        send    producer api   |-|
          run   consumer work      |----|
          run   consumer work              |------------------|
            chat client  work              |------------------|`,
      {
        attributes: { infer: POST, send: QUEUED, run: QUEUED, chat: CHAT },
        resources: { api: { 'host.id': 'h' }, work: { 'host.id': 'h' } },
      },
    );
    spans[2] = { ...spans[2]!, status: 'error' };
    expect(terms(spans)).toEqual({ queue: 40, retry: 80, model: 190 });
  });
});

describe('what the client sets up', () => {
  it('DNS, TCP and TLS of the client’s leg are connection, though they are siblings of the call', () => {
    const spans = draw(
      `
      user             internal app  |----------------------------|
        dns.lookup     internal app   |-|
        tcp.connect    internal app     |---|
        tls.connect    internal app         |---|
        POST           client   app   |------------------------|
          infer        server   api                |--------|`,
      { attributes: { POST, infer: POST } },
    );
    const { request } = onlyRequest(spans);
    expect(termsMs(request)).toMatchObject({ connection: 100, network: 60, application: 40 });
    expect(request).toMatchObject({ connection: 'new', serviceUs: 90_000 });
  });

  const events = (connectMs: number): [string, number][] => [
    ['fetchStart', 10],
    ['domainLookupStart', 10],
    ['domainLookupEnd', 10 + connectMs / 2],
    ['connectStart', 10 + connectMs / 2],
    ['connectEnd', 10 + connectMs],
    ['requestStart', 10 + connectMs],
  ];
  const page = (connectMs: number) =>
    draw(
      `
      POST     client web  |--------------------|
        infer  server api            |------|`,
      {
        attributes: { POST, infer: POST },
        events: { POST: events(connectMs) },
        scopes: { POST: '@opentelemetry/instrumentation-fetch' },
      },
    );

  it('a browser’s events tell it; a connection that was ready is 0 and measured, not missing', () => {
    expect(termsMs(onlyRequest(page(60)).request)).toMatchObject({ connection: 60, network: 80 });
    const { request } = onlyRequest(page(0));
    expect(termMs(request, 'connection')).toBe(0);
    expect(request.connection).toBe('reused');
  });
});

describe('who is a request', () => {
  it.each([
    [
      'a poller',
      'poll internal worker |---|\n  evalsha client worker |--|',
      { evalsha: { 'db.system.name': 'redis' } },
    ],
    ['a broker command', 'moveStalledJobsToWait internal worker |---|', {}],
    [
      'a health check',
      'health server api |--|',
      { health: { 'http.request.method': 'GET', 'http.route': '/healthz' } },
    ],
    ['a page load', 'load internal web |----|\n  GET client web |--|', { GET: { 'http.request.method': 'GET' } }],
  ])('%s is none', (_, text, attributes) => {
    const spans = draw(text, { attributes: attributes as never });
    expect(attributeTrace({ spans, rules: [] })).toMatchObject({
      requests: [],
      ignored: [{ reason: 'no_request', spans: spans.length }],
    });
  });

  it('without a root there is none; an orphan under a root hangs from it', () => {
    const spans = draw(
      `
      infer    server app  |----------|
        lost   internal app |--------|
          chat client app   |--------|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    expect(attributeTrace({ spans: spans.slice(1), rules: [] })).toEqual({
      requests: [],
      ignored: [{ rootSpanId: null, spans: 2, reason: 'no_root' }],
    });
    const orphaned = onlyRequest([spans[0]!, spans[2]!]);
    expect(orphaned.notes).toContain('orphans');
    expect(termMs(orphaned.request, 'model')).toBe(90);
  });

  it('two roots of one trace are two requests; turns of a conversation, one each', () => {
    const text = `
      session  internal bot  |------------------------------|
        turn   internal bot   |----------|
          chat client   bot    |--------|
        turn   internal bot                |----------|
          chat client   bot                 |--------|`;
    const requests = attributeTrace({ spans: draw(text, { attributes: { chat: CHAT } }), rules: [] }).requests;
    expect(requests.map(({ request }) => request.e2eUs)).toEqual([110_000, 110_000]);
    expect(new Set(requests.map(({ request }) => request.id)).size).toBe(2);
  });

  it('spans that are each other’s parents, or their own, break nothing', () => {
    const spans = draw(`infer server app |-----|\n  a internal app |--|\n    chat client app |--|`, {
      attributes: { infer: POST, chat: CHAT },
    });
    const looped = [spans[0]!, { ...spans[1]!, parentSpanId: spans[2]!.spanId }, spans[2]!];
    expect(onlyRequest(looped).request.e2eUs).toBe(60_000);
    expect(onlyRequest([spans[0]!, { ...spans[2]!, parentSpanId: spans[2]!.spanId }]).request.e2eUs).toBe(60_000);
  });

  it('bare service time is nobody’s fault: unattributed, with the model missing and not 0', () => {
    const { request } = onlyRequest(draw(`infer server app |--------------|`, { attributes: { infer: POST } }));
    expect(termsMs(request)).toEqual({ unattributed: 150 });
    expect(request.terms.every((us) => us === null)).toBe(true);
  });

  it('44.5 s of which a cold start took 29 and the model 7.6 leave 7.9 that nobody knows', () => {
    const spans = draw(
      `
      infer         server   app  |--------------------------------------------|
        cold~start  internal app  |----------------------------|
        chat        client   app                                       |-------|`,
      { columnMs: 1_000, attributes: { infer: POST, chat: CHAT } },
    );
    expect(terms(spans)).toEqual({ coldStart: 29_000, model: 8_000, unattributed: 8_000 });
  });
});

describe('rules and what spans say of themselves', () => {
  const spans = draw(
    `
      infer    server   app  |------------------|
        guard  internal app  |----|
        chat   client   app       |------------|`,
    {
      attributes: { infer: { ...POST, tier: 'gold' }, guard: { 'isochrone.term': 'cold_start' }, chat: CHAT },
    },
  );

  it('isochrone.term names a span’s time in either way of writing', () => {
    expect(terms(spans)).toEqual({ coldStart: 50, model: 130, unattributed: 10 });
  });

  it('a rule is stronger; the first that matches decides each thing; ignore leaves it to the parent', () => {
    const name = (value: string) => [{ attribute: 'span.name', is: 'equal' as const, value }];
    const rules = [
      { when: name('guard'), set: { term: 'application' as const } },
      { when: name('guard'), set: { term: 'queue' as const } },
      {
        when: [{ attribute: 'tier', is: 'prefix' as const, value: 'go' }],
        set: { endpoint: 'gold chat', region: 'eu-west-1' },
      },
    ];
    const { request } = onlyRequest(spans, { rules });
    expect(termsMs(request)).toEqual({ application: 50, model: 130, unattributed: 10 });
    expect(request.dims).toMatchObject({ endpoint: 'gold chat', serviceRegion: 'eu-west-1' });
    const ignoring = onlyRequest(spans, { rules: [{ when: name('guard'), set: { term: 'ignore' } }] });
    expect(termsMs(ignoring.request)).toEqual({ model: 130, unattributed: 60 });
  });

  it('sampling: tracestate tells how many requests one stands for', () => {
    const weigh = (traceState: string) => onlyRequest([{ ...spans[0]!, traceState }, ...spans.slice(1)]).request.weight;
    expect([weigh('ot=th:8'), weigh('x=1,ot=p:3;th:c'), weigh('ot=th:0'), weigh('nonsense')]).toEqual([2, 4, 1, 1]);
  });
});
