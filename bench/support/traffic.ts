// The traffic of the ingest benchmarks: 40 endpoints, 12 client and 4 service regions, 6 models, drawn by Zipf's law;
// log-normal durations with terms; five attributes with some thousand combinations. Repeatable: seeded, no clock.

export type BenchEvent = {
  endpoint: string;
  vantage: 'service';
  environment: string;
  version: string;
  clientRegion: string;
  serviceRegion: string;
  provider: string;
  model: string;
  outcome: 'ok' | 'error';
  e2eMs: number;
  ttftMs?: number;
  terms: { networkMs: number; queueMs: number; routingMs: number; modelHopMs: number; modelMs: number };
  inputTokens: number;
  outputTokens: number;
  attributes: Record<'plan' | 'tenant' | 'device' | 'build' | 'feature', string>;
};

const CLIENT_REGIONS = [
  'us-east-1',
  'us-west-2',
  'eu-west-2',
  'eu-central-1',
  'ap-southeast-1',
  'ap-northeast-1',
].concat(['sa-east-1', 'ca-central-1', 'eu-north-1', 'ap-south-1', 'me-central-1', 'af-south-1']);
const SERVICE_REGIONS = ['us-east-1', 'eu-west-1', 'ap-southeast-1', 'us-west-2'];
const MODELS = ['large-4', 'small-4', 'fast-2', 'vision-1', 'speech-3', 'embed-2'];

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** An index below n, the first the likeliest: p ∝ 1 / (i + 1). */
function zipf(random: () => number, n: number): number {
  let total = 0;
  for (let i = 1; i <= n; i++) total += 1 / i;
  let at = random() * total;
  for (let i = 0; i < n; i++) {
    at -= 1 / (i + 1);
    if (at < 0) return i;
  }
  return n - 1;
}

const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const ms = (value: number) => Math.round(value * 1_000) / 1_000;

/** One event without its id and time. */
export function drawEvent(random: () => number): BenchEvent {
  const [endpoint, client, service, model] = [zipf(random, 40), zipf(random, 12), zipf(random, 4), zipf(random, 6)];
  const spread = (median: number) => ms(median * Math.exp(0.6 * normal(random)));
  const terms = {
    networkMs: spread(20 + 8 * client),
    queueMs: spread(6),
    routingMs: spread(2),
    modelHopMs: spread(30),
    modelMs: spread(150 + 60 * model),
  };
  const known = terms.networkMs + terms.queueMs + terms.routingMs + terms.modelHopMs + terms.modelMs;
  const first = ms(known + spread(10));
  const streams = endpoint % 2 === 0;
  return {
    endpoint: `/v1/endpoint-${endpoint}`,
    vantage: 'service',
    environment: 'production',
    version: `2026.11.${endpoint % 3}`,
    clientRegion: CLIENT_REGIONS[client]!,
    serviceRegion: SERVICE_REGIONS[service]!,
    provider: model < 3 ? 'alpha' : 'beta',
    model: MODELS[model]!,
    outcome: random() < 0.01 ? 'error' : 'ok',
    e2eMs: streams ? ms(first + spread(900)) : first,
    ...(streams ? { ttftMs: first } : {}),
    terms,
    inputTokens: Math.ceil(spread(600)),
    outputTokens: Math.ceil(spread(180)),
    attributes: {
      plan: ['free', 'team', 'business'][zipf(random, 3)]!,
      tenant: `tenant-${zipf(random, 200)}`,
      device: ['web', 'ios', 'android', 'api'][zipf(random, 4)]!,
      build: `b${zipf(random, 5)}`,
      feature: ['chat', 'search'][zipf(random, 2)]!,
    },
  };
}
