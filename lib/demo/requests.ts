// From an arrival to an event as a client would send it: the path of the request through three endpoints, each part
// drawn from a measured set. data/demo.md says which, and what is assumed.

import { type Arrived, arrivalsOfHour, load } from './arrivals';
import { createDraws, type Draws } from './draws';
import { type Measured, valuesOf } from './measured';

type TermsMs = Partial<
  Record<
    | 'connectionMs'
    | 'networkMs'
    | 'queueMs'
    | 'routingMs'
    | 'coldStartMs'
    | 'retryMs'
    | 'modelHopMs'
    | 'modelMs'
    | 'applicationMs',
    number
  >
>;
type DemoCall = {
  stage: string;
  provider: string;
  model: string;
  modelRegion: string;
  startOffsetMs: number;
  durationMs: number;
  hopMs: number;
  modelMs: number;
};

/** What POST /api/v1/events takes; durations in ms, startedAt in ms since the epoch. */
export interface DemoEvent {
  id: string;
  startedAt: number;
  endpoint: string;
  vantage: 'client';
  environment: 'production';
  clientRegion: string;
  serviceRegion?: string;
  provider?: string;
  model?: string;
  modelRegion?: string;
  outcome?: 'ok' | 'error' | 'timeout' | 'cancelled';
  e2eMs: number;
  ttftMs?: number;
  terms?: TermsMs;
  connection?: 'first' | 'new' | 'reused';
  roundTrips?: number;
  rttMs?: number;
  calls?: DemoCall[];
  inputTokens?: number;
  outputTokens?: number;
}

/** What one endpoint does with a request that has reached the service. */
type Work = {
  terms: TermsMs;
  calls?: DemoCall[];
  modelRegion: string;
  provider: string;
  model: string;
  decodeMs?: number;
};
type Context = { measured: Measured; draws: Draws; isBusy: boolean };

const TIMEOUT_MS = 15_000;
const IN_ORDER = [
  'connectionMs',
  'networkMs',
  'routingMs',
  'queueMs',
  'coldStartMs',
  'retryMs',
  'applicationMs',
  'modelHopMs',
] as const;
const EUROPE_AND_INDIA = new Set(['eu-west-2', 'eu-central-1', 'ap-south-1']);
const round = (ms: number) => Math.round(ms * 1_000) / 1_000;
const sum = (terms: TermsMs) => Object.values(terms).reduce((total, ms) => total + ms, 0);

/** The events of one hour. The same hour and rate give the same events, ids included. */
export function requestsOfHour(measured: Measured, hour: { hourMs: number; perHourAtFullLoad: number }): DemoEvent[] {
  const name = new Date(hour.hourMs).toISOString().slice(0, 13).replaceAll(/\D/g, '');
  const draws = createDraws(`demo ${name}`);
  const context = { measured, draws, isBusy: load(hour.hourMs) > 0.45 };
  return arrivalsOfHour(measured, { ...hour, draws }).map((arrived, index) =>
    toEvent(arrived, { ...context, id: `demo-${name}-${index}` }),
  );
}

function toEvent(arrived: Arrived, context: Context & { id: string }): DemoEvent {
  const { draws } = context;
  const endpoint = arrived.set === 'code' ? '/v1/rerank' : draws.chance(0.15) ? '/v1/agent' : '/v1/chat';
  const nearEurope = endpoint !== '/v1/chat' && EUROPE_AND_INDIA.has(arrived.clientRegion);
  const serviceRegion = nearEurope ? 'eu-west-1' : 'us-east-1';
  const way = wayToService(context, { from: arrived.clientRegion, to: serviceRegion });
  const work = workOf(context, { endpoint, serviceRegion, arrived });
  const terms = { ...way.terms, ...work.terms };
  for (const term of Object.keys(terms) as (keyof TermsMs)[]) terms[term] = round(terms[term] ?? 0);
  const beforeCalls = sum(terms) - (terms.modelMs ?? 0) - (terms.modelHopMs ?? 0) - (terms.networkMs ?? 0) / 2;
  const waitMs = round(sum(terms) + draws.exponential(1.5)); // what nobody measured stays unattributed
  const event: DemoEvent = {
    id: context.id,
    startedAt: Math.floor(arrived.atMs),
    endpoint,
    vantage: 'client',
    environment: 'production',
    clientRegion: arrived.clientRegion,
    serviceRegion,
    provider: work.provider,
    model: work.model,
    modelRegion: work.modelRegion,
    e2eMs: round(waitMs + (work.decodeMs ?? 0)),
    ...(work.decodeMs === undefined ? {} : { ttftMs: waitMs }),
    terms,
    connection: way.connection,
    roundTrips: 1,
    rttMs: round(way.rttMs),
    ...(work.calls === undefined ? {} : { calls: shifted(work.calls, round(beforeCalls)) }),
    inputTokens: arrived.contextTokens,
    outputTokens: arrived.generatedTokens,
  };
  return withOutcome(event, draws);
}

/** Transit and set-up: a new TLS connection costs two more round trips than a warm one. */
function wayToService({ measured, draws }: Context, pair: { from: string; to: string }) {
  const between = measured.rttMs.get(`${pair.from}>${pair.to}`);
  if (between === undefined) throw new Error(`data/demo/rtt.csv holds no round trip ${pair.from} → ${pair.to}`);
  const lastMileMs = 4 + draws.exponential(draws.chance(0.25) ? 35 : 9); // a quarter on cellular
  const rttMs = between * draws.between(0.98, 1.03) + lastMileMs;
  const at = draws.uniform();
  const connection: 'first' | 'new' | 'reused' = at < 0.06 ? 'first' : at < 0.2 ? 'new' : 'reused';
  const terms: TermsMs = { networkMs: rttMs, connectionMs: connection === 'reused' ? 0 : 2 * rttMs };
  return { terms, connection, rttMs };
}

type Request = { endpoint: string; serviceRegion: string; arrived: Arrived };

function workOf(context: Context, request: Request): Work {
  if (request.endpoint === '/v1/chat') return chat(context, request);
  return request.endpoint === '/v1/agent' ? agent(context, request) : rerank(context, request);
}

/** Streamed answer of an own model beside the service; short queue, function cold starts. */
function chat(context: Context, { arrived, serviceRegion }: Request): Work {
  const { measured, draws } = context;
  return {
    terms: {
      ...inService(context, { queue: context.isBusy ? 'bullmq/4/0.8' : 'bullmq/4/0.5', coldShare: 0.015 }),
      modelHopMs: draws.between(0.6, 1.8),
      modelMs: draws.pick(valuesOf(measured.modelMs, 'chat_stream')) * draws.between(0.9, 1.1),
    },
    provider: 'self-hosted',
    model: 'chat-large',
    modelRegion: serviceRegion,
    decodeMs: arrived.generatedTokens * draws.pick(valuesOf(measured.modelMs, 'inter_token')),
  };
}

/** Three sequential calls to a model on the other coast: each pays the hop again. */
function agent(context: Context, { serviceRegion }: Request): Work {
  const { measured, draws } = context;
  const steps = draws.pick([2, 3, 3, 4]);
  let startOffsetMs = 0;
  const calls = Array.from({ length: steps }, (): DemoCall => {
    const hopMs = round(hop(context, { from: serviceRegion, to: 'us-west-2' }));
    const modelMs = round(draws.pick(valuesOf(measured.modelMs, 'chat_stream')) * draws.between(0.9, 1.1));
    const call = { stage: 'llm', provider: 'hosted', model: 'agent-small', modelRegion: 'us-west-2' };
    const durationMs = round(hopMs + modelMs);
    const placed = { ...call, startOffsetMs: round(startOffsetMs), durationMs, hopMs, modelMs };
    startOffsetMs += durationMs;
    return placed;
  });
  return {
    terms: {
      ...inService(context, { queue: 'celery/4/0.5', coldShare: 0.01 }),
      modelHopMs: calls.reduce((total, call) => total + call.hopMs, 0),
      modelMs: calls.reduce((total, call) => total + call.modelMs, 0),
    },
    calls,
    provider: 'hosted',
    model: 'agent-small',
    modelRegion: 'us-west-2',
  };
}

/** Own model behind a busy broker; cold starts are mostly functions, now and then a GPU server. */
function rerank(context: Context, { serviceRegion }: Request): Work {
  const { measured, draws } = context;
  return {
    terms: {
      ...inService(context, {
        queue: context.isBusy ? 'celery/4/0.95' : 'celery/4/0.8',
        coldShare: 0.015,
        gpuShare: 0.03,
      }),
      modelHopMs: draws.between(0.6, 1.8),
      modelMs: draws.pick(valuesOf(measured.modelMs, 'embeddings')) * draws.between(0.9, 1.1),
    },
    provider: 'self-hosted',
    model: 'rerank-base',
    modelRegion: serviceRegion,
  };
}

function inService(
  { measured, draws }: Context,
  how: { queue: string; coldShare: number; gpuShare?: number },
): TermsMs {
  const isCold = draws.chance(how.coldShare);
  const kind = draws.chance(how.gpuShare ?? 0) ? 'gpu' : 'function';
  return {
    routingMs: draws.between(1.9, 4.5),
    queueMs: draws.pick(valuesOf(measured.queueMs, how.queue)),
    coldStartMs: isCold ? draws.pick(valuesOf(measured.coldStartMs, kind)) : 0,
    retryMs: draws.chance(0.008) ? 250 + draws.exponential(400) : 0,
    applicationMs: draws.between(4, 12),
  };
}

/** Round trip to the model's region, the provider's edge, and its queue on one call in twelve. */
function hop({ measured, draws }: Context, pair: { from: string; to: string }): number {
  const between = measured.rttMs.get(`${pair.from}>${pair.to}`);
  if (between === undefined) throw new Error(`data/demo/rtt.csv holds no round trip ${pair.from} → ${pair.to}`);
  const queueMs = draws.chance(1 / 12) ? draws.pick(valuesOf(measured.modelMs, 'provider_queue')) : 0;
  return between * draws.between(0.98, 1.05) + draws.between(3, 9) + queueMs;
}

function shifted(calls: readonly DemoCall[], byMs: number): DemoCall[] {
  return calls.map((call) => ({ ...call, startOffsetMs: round(call.startOffsetMs + byMs) }));
}

/**
 * 0.7 % errors after the way and some work; 0.2 %, and whatever else takes longer, gave up waiting after 15 s; 0.4 %
 * were cancelled before the first output. Who gave up was waiting for the model, or for what had taken all the time.
 */
function withOutcome(event: DemoEvent, draws: Draws): DemoEvent {
  const at = draws.uniform();
  const waitMs = event.ttftMs ?? event.e2eMs;
  if (at >= 0.013 && waitMs <= TIMEOUT_MS) return event;
  const { ttftMs: _ttftMs, calls: _calls, terms = {}, outputTokens: _outputTokens, ...rest } = event;
  const { connectionMs = 0, networkMs = 0, routingMs = 0 } = terms;
  const way: TermsMs = { connectionMs, networkMs, routingMs };
  if (waitMs > TIMEOUT_MS || at < 0.002)
    return { ...rest, outcome: 'timeout', e2eMs: TIMEOUT_MS, terms: until(TIMEOUT_MS, terms) };
  if (at < 0.009) return { ...rest, outcome: 'error', e2eMs: round(sum(way) + draws.exponential(60)), terms: way };
  const e2eMs = round(sum(way) + draws.exponential(800));
  return { ...rest, outcome: 'cancelled', e2eMs, terms: until(e2eMs, terms) };
}

/** The terms as far as they had come when the client went away: in the order they happen, the model takes the rest. */
function until(e2eMs: number, terms: TermsMs): TermsMs {
  const seen: TermsMs = {};
  let leftMs = e2eMs;
  for (const term of IN_ORDER) {
    const ms = terms[term];
    if (ms === undefined) continue;
    seen[term] = round(Math.min(ms, leftMs));
    leftMs = round(leftMs - Math.min(ms, leftMs));
  }
  return { ...seen, modelMs: leftMs };
}
