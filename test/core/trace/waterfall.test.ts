import { describe, expect, it } from 'vitest';
import { firstOutputOf } from '../../../lib/core/trace/firstOutput';
import { waterfallsOf } from '../../../lib/core/trace/waterfall';
import { captureNames, readCapture } from '../../support/captures';
import { CHAT, draw, FAILED, onlyRequest, POST } from '../../support/drawing';
import { byTrace, captureSpans } from '../../support/traces';

describe('waterfall', () => {
  const spans = draw(
    `
      ask        client   app   |------------------------------|
        infer    server   gate     |------------------------|
          rag    internal gate     |---|
          search internal gate     |--|
          chat   client   gate          |------------------|
            POST client   gate          |-|
            POST client   gate                |------------|
          audit  internal gate                             |----------------|`,
    { attributes: { ask: POST, infer: POST, chat: CHAT, POST: FAILED }, aheadMs: { gate: 400 } },
  );
  spans[6] = { ...spans[6]!, attributes: POST };
  const [waterfall] = waterfallsOf({ spans, rules: [] });
  const row = (name: string) => waterfall!.rows.find((one) => one.name === name)!;

  it('has a row for each span and for the wait that no span shows, parents before children', () => {
    expect(waterfall!.rows.map(({ name, depth }) => `${'.'.repeat(depth)}${name}`)).toEqual([
      'ask',
      '.infer',
      '..search',
      '..rag',
      '..chat',
      '...retry',
      '....POST',
      '...POST',
      '..audit',
    ]);
    for (const [i, { parent }] of waterfall!.rows.entries()) expect(parent ?? -1).toBeLessThan(i);
  });

  it('tells own time, time on the path, what it is called and how that is known', () => {
    expect(row('ask')).toMatchObject({
      durationUs: 310_000,
      ownUs: 60_000,
      ownPathUs: 60_000,
      subtreePathUs: 310_000,
      term: 'network',
      evidence: 'derived',
    });
    expect(row('search')).toMatchObject({ ownPathUs: 0, term: null, evidence: 'missing' });
    expect(row('retry')).toMatchObject({ spanId: null, durationUs: 60_000, subtreePathUs: 60_000 });
    expect(row('chat')).toMatchObject({ subtreePathUs: 190_000, service: 'gate', kind: 'client' });
    expect(row('audit').outlives).toBe(true);
    expect(waterfall!.rows.find((one) => one.name === 'POST' && one.failedBefore === 1)?.term).toBe('model');
    expect(Math.abs(row('infer').skewUs! - 400_000)).toBeLessThan(30_000);
    expect(row('ask').skewUs).toBe(0);
  });

  it('its segments partition every request that was recorded', () => {
    const traces = captureNames()
      .filter((name) => readCapture(name).some((post) => post.path === '/v1/traces'))
      .flatMap((name) => byTrace(captureSpans(name)));
    for (const trace of traces) {
      for (const { rows, e2eUs } of waterfallsOf({ spans: trace, rules: [] })) {
        expect(rows[0]!.subtreePathUs).toBe(e2eUs);
        const segments = rows.flatMap((one) => one.segments).sort((a, b) => a.startUs - b.startUs);
        let at = 0;
        for (const { startUs, endUs } of segments) {
          expect(startUs).toBe(at);
          at = endUs;
        }
        expect(at).toBe(e2eUs);
      }
    }
  });
});

describe('time to the first output', () => {
  const told = (attributes: object, event?: [string, number]) =>
    firstOutputOf(
      draw('chat client app |----------|', {
        attributes: { chat: attributes as never },
        events: event ? { chat: [event] } : {},
      })[0]!,
    );

  it.each([
    ['OpenTelemetry, s', { 'gen_ai.response.time_to_first_chunk': 0.05 }],
    ['AI SDK 7, s', { 'gen_ai.client.operation.time_to_first_chunk': 0.05 }],
    ['AI SDK 6, ms', { 'ai.response.msToFirstChunk': 50 }],
    [
      'Langfuse, an ISO time inside JSON quotes',
      { 'langfuse.observation.completion_start_time': '"2026-11-30T10:53:20.050Z"' },
    ],
    ['OpenLLMetry, recorded at the client', { 'gen_ai.server.time_to_first_token': 0.05 }],
    ['LiveKit, s', { 'lk.response.ttft': 0.05 }],
    ['Pipecat, s', { 'metrics.ttfb': 0.05 }],
    ['an integer as text', { 'ai.response.msToFirstChunk': '50' }],
  ])('%s', (_, attributes) => {
    const spans = draw('chat client app |----------|', {
      originUs: Date.parse('2026-11-30T10:53:20.000Z') * 1_000,
      attributes: { chat: attributes as never },
    });
    expect(firstOutputOf(spans[0]!)).toEqual({ is: 'told', afterUs: 50_000 });
  });

  it('an event', () => {
    expect(told({}, ['First Token Stream Event', 40])).toEqual({ is: 'told', afterUs: 40_000 });
    expect(told({}, ['ai.stream.firstChunk', 40])).toEqual({ is: 'told', afterUs: 40_000 });
  });

  it.each([[-1], [0], [0.001], [5], [Number.NaN], ['soon']])('%s s is no measurement of a call of 110 ms', (value) => {
    const first = told({ 'gen_ai.response.time_to_first_chunk': value });
    expect(['unbelievable', 'absent']).toContain(first.is);
    const spans = draw('chat client app |----------|', {
      attributes: { chat: { ...CHAT, 'gen_ai.response.time_to_first_chunk': value } as never },
    });
    expect(onlyRequest(spans).request).toMatchObject({ ttftUs: null, decodeUs: null });
  });

  it('a lie beside the truth: the one that can be true', () => {
    expect(told({ 'gen_ai.response.time_to_first_chunk': 0.001, 'ai.response.msToFirstChunk': 50 })).toEqual({
      is: 'told',
      afterUs: 50_000,
    });
  });

  it('as late as the whole answer: no stream was observed', () => {
    for (const seconds of [0.11, 0.1095, 0.1105])
      expect(told({ 'gen_ai.response.time_to_first_chunk': seconds }).is).toBe('noStream');
    const spans = draw('chat client app |----------|', {
      attributes: { chat: { ...CHAT, 'gen_ai.response.time_to_first_chunk': 0.11 } },
    });
    expect(onlyRequest(spans)).toMatchObject({ request: { ttftUs: null }, notes: ['noStreamObserved'] });
  });
});
