// Queues, cold starts, streams, parallel branches and agents, each drawn. A column is 10 ms where nothing else is said.
import { describe, expect, it } from 'vitest';
import { savingsOf } from '../../../lib/core/levers';
import type { Lever } from '../../../lib/core/terms';
import type { TracedRequest } from '../../../lib/core/trace/attributed';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import { replicaStartsOf } from '../../../lib/core/trace/replicas';
import { CHAT, draw, onlyRequest, POST } from '../../support/drawing';
import { termMs, termsMs } from '../../support/traces';

const JOB = { 'messaging.system': 'redis', 'messaging.destination.name': 'jobs' };

/** What a lever saves one request, in ms. */
function savedMs({ request }: TracedRequest, lever: Lever): number {
  const context = { overrides: [], deployableRegions: null, version: 'test' };
  const { savedUs } = savingsOf({ rows: [request], basis: request.ttftUs === null ? 'e2e' : 'ttft', context });
  return (savedUs[lever]?.[0] ?? 0) / 1_000;
}

describe('queues', () => {
  const text = `
      infer     server   api   |--------------------------------|
        send    producer api    |--|
          run   consumer work               |------------------|
            chat client  work               |-----------------|`;
  const attributes = { infer: POST, send: JOB, run: JOB, chat: CHAT };

  it('the wait lasts from sending to taking, also while the sending is being acknowledged', () => {
    const { request, notes } = onlyRequest(draw(text, { attributes, columnMs: 4 }));
    expect(termsMs(request)).toMatchObject({ queue: 48, model: 72 });
    expect(notes).toEqual([]);
  });

  it.each([-500, 500, -120, 350, 40])('with the worker’s clock %d ms off the wait comes from durations', (ms) => {
    const { request, skewUs } = onlyRequest(draw(text, { attributes, aheadMs: { work: ms } }));
    // true 120; what the reply took after the job, 10, cannot be told from it
    expect(Math.abs(termMs(request, 'queue')! - 130)).toBeLessThanOrEqual(0.001);
    expect(termMs(request, 'model')).toBe(180);
    expect(Math.abs(skewUs['work|||||']! / 1_000 - ms)).toBeLessThanOrEqual(10);
  });

  it('a consumer that only links to its producer, from another trace', () => {
    const spans = draw(
      `
      infer     server   api   |--------------------------------|
        send    producer api    |--|`,
      { attributes },
    );
    const job = draw(
      `
      run     consumer work  |-------------------|
        chat  client   work  |-----------------|`,
      { attributes, traceId: 'cd'.repeat(16), originUs: spans[0]!.startUs + 130_000 },
    );
    job[0] = { ...job[0]!, links: [{ traceId: spans[1]!.traceId, spanId: spans[1]!.spanId }] };
    const { requests } = attributeTrace({ spans: [...job, ...spans], rules: [] });
    expect(requests.length).toBe(1);
    expect(termsMs(requests[0]!.request)).toMatchObject({ queue: 120, model: 180 });
  });

  it('a message nobody is seen to take: the wait is missing, not 0', () => {
    const spans = draw(text, { attributes }).slice(0, 2);
    const { request, notes } = onlyRequest(spans);
    expect(termMs(request, 'queue')).toBeNull();
    expect(notes).toContain('queueUnknown');
  });

  it('a job that nobody waits for is not in the request', () => {
    const spans = draw(
      `
      infer     server   api   |---------------|
        send    producer api    |-|
          run   consumer work    |--------------------------|
        chat    client   api      |------------|`,
      { attributes },
    );
    expect(termsMs(onlyRequest(spans).request)).toMatchObject({ model: 130 });
    expect(termMs(onlyRequest(spans).request, 'queue')).toBeNull();
  });

  // A worker tidies up after it has answered, and its span ends after the server that waited for it. When clocks differ
  // too much to tell, it began between its sending (0) and in time to answer (40).
  const TAIL = `
      ask         client   app |--------------------------|
        infer     server   api      |----------------|
          send    producer api       |-|
            run   consumer work         |-----------------|
              chat client  work         |-----------|`;
  const HOST = { api: { 'host.id': 'h' }, work: { 'host.id': 'h' } };

  it.each([
    ['on one host, clocks as they are', { columnMs: 4, resources: HOST }, { queue: 12, model: 48 }],
    ['on two hosts, clocks as they are', { columnMs: 1 }, { queue: 3, model: 12 }],
    ['on two hosts whose clocks are 500 ms apart', { columnMs: 10, aheadMs: { work: 500 } }, { queue: 20, model: 120 }],
    [
      'on two hosts whose clocks are −500 ms apart',
      { columnMs: 10, aheadMs: { work: -500 } },
      { queue: 20, model: 120 },
    ],
  ])('a job whose span ends after the server that waited for it was waited for (%s)', (_, more, known) => {
    const { request, notes } = onlyRequest(draw(TAIL, { attributes: { ask: POST, ...attributes }, ...more }));
    const column = more.columnMs;
    expect(termMs(request, 'queue')).toBe(known.queue);
    expect(termMs(request, 'model')).toBe(known.model);
    // the server's way in and out is what it is without the queue: the job is within the server, not beside it
    expect(termMs(request, 'network')).toBe(10 * column);
    expect(notes).not.toContain('queueUnknown');
  });

  it('a job that was taken at once waited for 0 ms: measured, not missing', () => {
    const spans = draw(
      `
      infer     server   api   |---------------|
        send    producer api    |-|
          run   consumer work   |-------------|
            chat client  work   |-------------|`,
      { attributes, resources: HOST },
    );
    const { request, notes } = onlyRequest(spans);
    expect(termMs(request, 'queue')).toBe(0);
    expect(notes).toEqual([]);
  });

  it('a server that gave up had waited, though its job goes on', () => {
    const spans = draw(
      `
      infer     server   api   |---------------|
        send    producer api   |-|
          run   consumer work        |------------------------------------------|
            chat client  work        |------------------------------------------|`,
      { attributes: { ...attributes, infer: { ...POST, 'http.response.status_code': 504 } }, resources: HOST },
    );
    const { request } = onlyRequest(spans);
    expect(request.outcome).toBe('timeout');
    expect(termsMs(request)).toEqual({ queue: 60, model: 100 });
  });

  it('a job without a model that only began before its sender ended is nobody’s, also within the client’s time', () => {
    const spans = draw(
      `
      ask         client   app |-----------------------------------|
        infer     server   api    |--------|
          chat    client   api    |-----|
          send    producer api          |-|
            log   consumer work          |-------------------|`,
      { attributes: { ask: POST, ...attributes, log: JOB }, resources: HOST },
    );
    const { request } = onlyRequest(spans);
    expect(termMs(request, 'queue')).toBeNull();
    expect(termsMs(request)).toMatchObject({ network: 270, model: 60 });
  });

  it('202 whose job was taken before the 202 was out', () => {
    const spans = draw(
      `
      accept    server   api    |---|
        send    producer api     |-|
          run   consumer work      |-------------------|
            chat client  work      |-------------------|`,
      { attributes: { ...attributes, accept: { ...POST, 'http.response.status_code': 202 } }, resources: HOST },
    );
    const { request } = onlyRequest(spans);
    expect(request.e2eUs).toBe(230_000);
    expect(termsMs(request)).toMatchObject({ queue: 20, model: 200 });
  });

  it('202: the request lasts until the caller collects the result; ready → collected is queue, too', () => {
    const spans = draw(
      `
      ask           internal app   |-----------------------------------------|
        submit      client   app   |--|
          accept    server   api    ||
            send    producer api    ||
              run   consumer work           |-------------------|
                chat client  work           |-------------------|
        poll        client   app                    |-|
          status    server   api                    |-|
        poll        client   app                                        |-|
          status    server   api                                        |-|`,
      {
        attributes: { ...attributes, submit: POST, accept: { ...POST, 'http.response.status_code': 202 } },
        resources: { app: { 'host.id': 'h' }, api: { 'host.id': 'h' }, work: { 'host.id': 'h' } },
      },
    );
    const { request } = onlyRequest(spans);
    expect(request.e2eUs).toBe(420_000);
    // sent 10, taken 90; ready 290, collected from 370
    expect(termsMs(request)).toMatchObject({ queue: 160, model: 200 });
  });

  it('202 without a caller: until the result is ready', () => {
    const spans = draw(
      `
      accept    server   api    |--|
        send    producer api    ||
          run   consumer work           |-------------------|
            chat client  work           |-------------------|`,
      {
        attributes: { ...attributes, accept: { ...POST, 'http.response.status_code': 202 } },
        resources: { api: { 'host.id': 'h' }, work: { 'host.id': 'h' } },
      },
    );
    const { request } = onlyRequest(spans);
    expect(request.e2eUs).toBe(280_000);
    expect(termsMs(request)).toEqual({ queue: 80, model: 200 });
  });
});

describe('cold starts', () => {
  it('an init span is the cold start', () => {
    const spans = draw(
      `
      infer            server   fn  |--------------------|
        initialization internal fn  |----------|
        chat           client   fn             |---------|`,
      { attributes: { infer: POST, chat: CHAT } },
    );
    expect(termsMs(onlyRequest(spans).request)).toEqual({ coldStart: 110, model: 100 });
  });

  const cold = (attributes: object, aheadMs = {}) =>
    draw(
      `
      ask     client app  |--------------------|
        fn    server fn                |------|`,
      { attributes: { ask: POST, fn: { ...POST, ...attributes } }, aheadMs },
    );

  it.each([0, 500, -500])('faas.init_duration is it, before the invocation; clocks %d ms apart', (fn) => {
    const { request } = onlyRequest(cold({ 'faas.coldstart': true, 'faas.init_duration': 0.1 }, { fn }));
    expect(termsMs(request)).toMatchObject({ coldStart: 100, network: 40 });
  });

  it('faas.coldstart alone: by how much the way in is longer than the way out', () => {
    expect(termsMs(onlyRequest(cold({ 'faas.coldstart': true })).request)).toMatchObject({
      coldStart: 120,
      network: 20,
    });
    expect(termMs(onlyRequest(cold({ 'faas.coldstart': false })).request, 'coldStart')).toBeNull();
  });

  // One replica loads for 8 s. The burst that waits for it waits for the load, then for its turn.
  //   load   |========|
  //   r0      |-------|##|
  //   r1      |-------|--|##|
  //   r2       |------|-----|##|
  const REPLICA = { work: { 'service.instance.id': 'w-1', 'host.id': 'gpu-1' } };
  const ORIGIN = 1_796_000_000_000_000;
  const load = draw('model~load internal work |--------|', {
    columnMs: 1_000,
    originUs: ORIGIN,
    resources: REPLICA,
    traceId: 'ef'.repeat(16),
  });
  const burst = Array.from({ length: 20 }, (_, i) => {
    const takenMs = 9_000 + i * 200;
    const sentMs = 500 + i * 10;
    const at = (ms: number) => ORIGIN + ms * 1_000;
    const [infer, send, run, chat] = draw(
      `
      infer     server   api   |---|
        send    producer api   |-|
          run   consumer work   |-|
            chat client  work   |-|`,
      {
        attributes: { infer: POST, send: JOB, run: JOB, chat: CHAT },
        resources: REPLICA,
        traceId: `${i + 10}`.repeat(16),
      },
    );
    return [
      { ...infer!, startUs: at(sentMs), endUs: at(takenMs + 201) },
      { ...send!, startUs: at(sentMs), endUs: at(sentMs + 1) },
      { ...run!, startUs: at(takenMs), endUs: at(takenMs + 200) },
      { ...chat!, startUs: at(takenMs), endUs: at(takenMs + 200) },
    ];
  });

  it('an autoscale burst names the cold start of that replica, not the queue', () => {
    const starts = replicaStartsOf(load);
    expect(starts.map(({ startUs, endUs }) => [startUs - ORIGIN, endUs - ORIGIN])).toEqual([[0, 9_000_000]]);
    burst.forEach((spans, i) => {
      const traced = onlyRequest(spans, { replicaStarts: starts });
      // Sent at 0.5 s + 10 ms a request while it loaded until 9 s; then 200 ms for each one before
      expect(termMs(traced.request, 'coldStart')).toBe(8_500 - i * 10);
      expect(termMs(traced.request, 'queue') ?? 0).toBe(i * 200);
      expect(savedMs(traced, 'coldStart')).toBeGreaterThan(savedMs(traced, 'queue'));
    });
  });

  it('a start of another replica, or one that was over before, says nothing', () => {
    const starts = replicaStartsOf(load);
    const others = [
      starts.map((start) => ({ ...start, replica: 'another' })),
      starts.map((start) => ({ ...start, startUs: start.startUs - 20_000_000, endUs: start.endUs - 20_000_000 })),
    ];
    for (const replicaStarts of others)
      expect(termMs(onlyRequest(burst[3]!, { replicaStarts }).request, 'coldStart')).toBeNull();
    // A service's name alone is shared by all its replicas
    expect(replicaStartsOf(load.map((span) => ({ ...span, resource: { 'service.name': 'work' } })))).toEqual([]);
  });
});

describe('streams', () => {
  const text = `
      ask       client app   |------------------------------|
        infer   server api       |----------------------|
          chat  client api        |--------------------|`;
  const stream = { ...CHAT, 'gen_ai.response.time_to_first_chunk': 0.08 };

  it.each([0, 500, -500])('the first output travels the way back, too; clocks %d ms apart', (api) => {
    const { request } = onlyRequest(
      draw(text, { attributes: { ask: POST, infer: POST, chat: stream }, aheadMs: { api } }),
    );
    // in 40, service 10, model 80, back 40; then decode
    expect(request.ttftUs).toBe(170_000);
    const { application, unattributed, ...rest } = termsMs(request);
    expect(rest).toEqual({ network: 80, model: 80, decode: 140 });
    expect((application ?? 0) + (unattributed ?? 0)).toBe(10);
  });

  it('an output that was held back by later work was not the user’s yet', () => {
    const spans = draw(
      `
      infer    server   api  |----------------------|
        chat   client   api  |----------|
        guard  internal api             |-----------|`,
      { attributes: { infer: POST, chat: stream } },
    );
    expect(onlyRequest(spans).request.ttftUs).toBeNull();
  });

  it('two calls: the first one is whole, the second until its first output', () => {
    const spans = draw(
      `
      infer    server   api  |----------------------|
        plan   client   api  |-------|
        write  client   api          |--------------|`,
      { attributes: { infer: POST, plan: CHAT, write: stream } },
    );
    const { request, steps } = onlyRequest(spans);
    expect({ steps, ttftMs: request.ttftUs! / 1_000 }).toEqual({ steps: 2, ttftMs: 160 });
    expect(termsMs(request)).toEqual({ model: 160, decode: 70 });
  });
});

describe('parallel branches', () => {
  it('a hop of 800 beside a retrieval of 750 gains 50 at most', () => {
    const spans = draw(
      `
      infer      server   api    |--------------------------------------------|
        chat     client   api    |------------------------------------------|
          run    server   model                                          |  |
        search   internal api    |-------------------------------------|`,
      {
        columnMs: 20,
        attributes: { infer: POST, chat: CHAT, run: POST, search: { 'openinference.span.kind': 'RETRIEVER' } },
      },
    );
    const traced = onlyRequest(spans);
    expect(termMs(traced.request, 'modelHop')).toBe(800);
    expect(traced.request.calls.map(({ stage, durationUs, hopUs }) => [stage, durationUs, hopUs])).toEqual([
      ['llm', 860_000, 800_000],
      ['retrieval', 760_000, null],
    ]);
    expect(savedMs(traced, 'modelHop')).toBe(100);
  });

  it('exactly as stated: 800 and 750', () => {
    const at = (fromMs: number, toMs: number) => ({
      startUs: 1_796_000_000_000_000 + fromMs * 1_000,
      endUs: 1_796_000_000_000_000 + toMs * 1_000,
    });
    const [infer, chat, run, search] = draw(
      `
      infer    server   api   |---|
        chat   client   api   |--|
          run  server   model |--|
        search internal api   |--|`,
      { attributes: { infer: POST, chat: CHAT, run: POST, search: { 'openinference.span.kind': 'RETRIEVER' } } },
    );
    const spans = [
      { ...infer!, ...at(0, 801) },
      { ...chat!, ...at(0, 800) },
      { ...run!, ...at(800, 800) },
      { ...search!, ...at(0, 750) },
    ];
    const traced = onlyRequest(spans);
    expect(termMs(traced.request, 'modelHop')).toBe(800);
    expect(savedMs(traced, 'modelHop')).toBe(50);
  });
});

describe('agents', () => {
  it('twelve calls: twelve steps, and a hop floor of 24 ms', () => {
    // agent |--call--|tool|--call--|tool| …   a call: 20 out, 100 model, 20 back; a tool: 30
    const lines = Array.from({ length: 12 }, (_, i) => {
      const pad = ' '.repeat(17 * i);
      return [
        `        ${`call${i}`.padEnd(8)}client   app   ${pad}|-------------|`,
        `          ${`run${i}`.padEnd(6)}server   model ${pad}  |---------|`,
        `        ${`tool${i}`.padEnd(8)}internal app   ${pad}              |--|`,
      ].join('\n');
    });
    const spans = draw([`      agent     internal app   |${'-'.repeat(17 * 12 - 1)}|`, ...lines].join('\n'), {
      attributes: {
        agent: { 'gen_ai.operation.name': 'invoke_agent' },
        ...Object.fromEntries(lines.map((_, i) => [`call${i}`, CHAT])),
        ...Object.fromEntries(lines.map((_, i) => [`run${i}`, POST])),
        ...Object.fromEntries(lines.map((_, i) => [`tool${i}`, { 'gen_ai.operation.name': 'execute_tool' }])),
      },
    });
    const traced = onlyRequest(spans);
    expect(traced.steps).toBe(12);
    expect(termsMs(traced.request)).toEqual({ modelHop: 480, model: 1_200, application: 360 });
    expect(traced.request.calls.length).toBe(24);
    expect(savedMs(traced, 'modelHop')).toBe(480 - 24);
  });
});
