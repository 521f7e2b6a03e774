// Roll-ups and samples of 100 million requests in 28 days, made directly in their stored form: 40 endpoints × 12 client ×
// 4 service regions × 6 models by Zipf's law. Cells are scaled from templates that the product's own code folded, so they
// have the shapes and sizes that folding would give them; what reads them is the product itself.

import type { PoolClient } from 'pg';
import {
  addToCell,
  type Cell,
  type CellKey,
  coarsen,
  emptyCell,
  encodeCell,
  type Family,
  formatKey,
  type Grouping,
  isStored,
  type Tier,
} from '../../lib/core/cell';
import { bucketIndex, createHistogram } from '../../lib/core/histogram';
import type { TimedRequest } from '../../lib/core/request';
import { addToSample } from '../../lib/core/sample';
import { MEASURED_TERMS } from '../../lib/core/terms';
import { FINISHED, insertParts, type Part } from '../../lib/db/rollupStore';

export const ENDPOINTS = Array.from({ length: 40 }, (_, i) => `/v1/endpoint-${String(i).padStart(2, '0')}`);
export const CLIENT_REGIONS = [
  ...['us-east-1', 'eu-central-1', 'eu-west-2', 'us-west-2', 'ap-south-1', 'ap-southeast-1'],
  ...['ap-northeast-1', 'sa-east-1', 'ca-central-1', 'eu-north-1', 'ap-southeast-2', 'af-south-1'],
];
export const SERVICE_REGIONS = ['us-east-1', 'eu-central-1', 'ap-southeast-1', 'us-west-2'];
export const MODELS = ['small-1', 'medium-1', 'large-1', 'small-2', 'medium-2', 'large-2'];

const TEMPLATE_REQUESTS = 2_000;
const PERIOD_S: Record<Tier, number> = { '5min': 300, hour: 3_600, day: 86_400 };
const DAYS = 28;

/** Mulberry32: 0 ≤ x < 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
const random = randomOf(20_261_201);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const lognormal = (median: number, sigma: number) => Math.round(median * Math.exp(sigma * normal()));

const shares = (n: number) => {
  const weights = Array.from({ length: n }, (_, i) => 1 / (i + 1));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / total);
};
const SHARE = { endpoint: shares(40), client: shares(12), service: shares(4), model: shares(6) };

/** Requests from one client region to one model, as the product folds them. */
type Template = { requests: TimedRequest[]; cells: Map<Family, Cell>; sortedUs: number[] };

const SCALED: readonly Family[] = ['counts', 'e2e', 'model', 'gapE2e', 'terms', 'anatomyE2e'];

function drawRequest(client: number, model: number): TimedRequest {
  const terms = MEASURED_TERMS.map((term): number | null => {
    if (term === 'network') return lognormal((10 + 12 * client) * 1000, 0.15);
    if (term === 'connection') return random() < 0.2 ? lognormal(40_000, 0.4) : 0;
    if (term === 'queue') return lognormal(8_000, 0.9);
    if (term === 'routing') return lognormal(3_000, 0.3);
    if (term === 'coldStart') return random() < 0.012 ? lognormal(2_500_000, 0.4) : 0;
    if (term === 'modelHop') return lognormal(25_000, 0.4);
    if (term === 'model') return lognormal((120 + 90 * model) * 1000, 0.5);
    return null;
  });
  const known = terms.reduce<number>((sum, us) => sum + (us ?? 0), 0);
  return {
    ...{ id: '', startedAtUs: 0, outcome: 'ok', e2eUs: known + lognormal(9_000, 0.5), ttftUs: null, terms },
    dims: {
      ...{ endpoint: '', vantage: 'client', environment: 'production', version: null, serviceRegion: null },
      ...{ clientRegion: CLIENT_REGIONS[client]!, provider: 'provider', model: MODELS[model]!, modelRegion: null },
    },
    ...{ evidence: 0x55555, decodeUs: null, serviceUs: null, connection: 'new', roundTrips: 3, rttUs: null, calls: [] },
    ...{ inputTokens: 400, outputTokens: 120, cachedInputTokens: null, inFlight: null, cache: null, quality: null },
    ...{ weight: 1, traceId: null, sessionId: null, attributes: null },
  };
}

function makeTemplate(client: number, model: number): Template {
  const requests = Array.from({ length: TEMPLATE_REQUESTS }, () => drawRequest(client, model));
  const cells = new Map<Family, Cell>(SCALED.map((family) => [family, emptyCell(family)]));
  for (const request of requests) for (const cell of cells.values()) addToCell(cell, request);
  return { requests, cells, sortedUs: requests.map((r) => r.e2eUs).sort((a, b) => a - b) };
}

const templates = new Map<string, Template>();
function templateOf(client: number, model: number): Template {
  const name = `${client} ${model}`;
  const known = templates.get(name) ?? makeTemplate(client, model);
  templates.set(name, known);
  return known;
}

/** An integer whose expectation is x. */
const rounded = (x: number) => Math.floor(x) + (random() < x % 1 ? 1 : 0);

/** The histogram of n requests like a template's. */
function scaleHistogram(from: ReturnType<typeof createHistogram>, factor: number) {
  const to = createHistogram(from.scale);
  for (const [index, count] of from.buckets) {
    const scaled = rounded(count * factor);
    if (scaled > 0) to.buckets.set(index, scaled);
    to.weight += scaled;
  }
  to.zero = rounded(from.zero * factor);
  to.weight += to.zero;
  to.n = to.weight;
  to.weightSquared = to.weight;
  if (to.n > 0) [to.minUs, to.maxUs] = [from.minUs, from.maxUs];
  return to;
}

function scaleCell(from: Cell, factor: number): Cell {
  if ('histogram' in from) return { ...from, histogram: scaleHistogram(from.histogram, factor) };
  if (from.family === 'terms')
    return { ...from, histograms: from.histograms.map((h) => scaleHistogram(h, factor)), evidence: [...from.evidence] };
  if (from.family === 'counts') {
    const [counts, judged] = [from.counts, from.judged].map((some) => some.map((c) => Math.round(c * factor)));
    return { ...from, counts: counts!, judged: judged! };
  }
  if ('anatomy' in from) {
    const anatomy = new Map(
      [...from.anatomy].map(([index, b]) => [
        index,
        {
          n: Math.max(1, Math.round(b.n * factor)),
          weight: Math.max(1, Math.round(b.weight * factor)),
          waitUs: Math.round(b.waitUs * factor),
          termUs: b.termUs.map((us) => Math.round(us * factor)),
          covered: b.covered.map((w) => Math.round(w * factor)),
        },
      ]),
    );
    return { ...from, anatomy };
  }
  throw new Error(`${from.family} is not scaled`);
}

/** Few requests: their own values, as a fold of them would have. */
function fewE2e(template: Template, n: number): Cell {
  const cell = emptyCell('e2e');
  for (let i = 0; i < n; i++) {
    const us = template.sortedUs[Math.floor(random() * TEMPLATE_REQUESTS)]!;
    const { histogram } = cell;
    histogram.n += 1;
    histogram.weight += 1;
    histogram.weightSquared += 1;
    histogram.minUs = Math.min(histogram.minUs ?? us, us);
    histogram.maxUs = Math.max(histogram.maxUs ?? us, us);
    const index = bucketIndex(us, histogram.scale);
    histogram.buckets.set(index, (histogram.buckets.get(index) ?? 0) + 1);
  }
  return cell;
}

function sampleCell(
  family: 'sampleE2e' | 'thinE2e',
  tier: Tier,
  at: { template: Template; key: CellKey; n: number; startS: number },
): Cell {
  const cell = emptyCell(family, tier);
  const { sample } = cell;
  const drawn = Math.min(at.n, 3 * sample.limits.all);
  const dims = SERVICE_REGIONS.map((serviceRegion) => ({
    ...{ ...at.template.requests[0]!.dims, endpoint: at.key.endpoint!, serviceRegion },
  }));
  for (let i = 0; i < drawn; i++) {
    const like = at.template.requests[Math.floor(random() * TEMPLATE_REQUESTS)]!;
    const startedAtUs = at.startS * 1e6 + Math.floor(random() * PERIOD_S[tier] * 1e6);
    addToSample(sample, { ...like, id: crypto.randomUUID(), startedAtUs, dims: dims[i % 4]! }, 'e2e');
  }
  const factor = at.n / Math.max(1, drawn);
  for (const bucket of sample.buckets.values()) {
    bucket.n = Math.round(bucket.n * factor);
    bucket.weight = Math.round(bucket.weight * factor);
  }
  sample.n = at.n;
  return cell;
}

const keyOf = (e: number, c: number, s: number, m: number): CellKey => ({
  ...{ endpoint: ENDPOINTS[e]!, clientRegion: CLIENT_REGIONS[c]!, serviceRegion: SERVICE_REGIONS[s]! },
  ...{ provider: 'provider', model: MODELS[m]!, modelRegion: null, version: null },
  ...{ vantage: 'client', environment: 'production', outcome: 'ok', cached: false },
});

export type MadePeriod = { tier: Tier; startS: number; samples: readonly ('sampleE2e' | 'thinE2e')[] };

class PartsOfPeriod {
  private readonly parts = new Map<string, Part & { cells: Map<string, Uint8Array> }>();
  constructor(private readonly period: MadePeriod) {}

  /** One cell for each key. */
  set(grouping: Grouping, key: CellKey, cell: Cell): void {
    const { tier, startS } = this.period;
    if (!isStored(grouping, tier, cell.family)) return;
    const id = `${grouping} ${cell.family}`;
    const part = this.parts.get(id) ?? { grouping, tier, family: cell.family, periodS: startS, cells: new Map() };
    this.parts.set(id, part);
    part.cells.set(formatKey(coarsen(key, grouping)), encodeCell(cell));
  }

  all(): Part[] {
    return [...this.parts.values()];
  }
}

function countsOf(template: Template, n: number): Cell {
  const cell = scaleCell(template.cells.get('counts')!, n / TEMPLATE_REQUESTS);
  if (cell.family === 'counts') [cell.counts[0], cell.counts[1]] = [n, n];
  return cell;
}

function e2eOf(template: Template, n: number): Cell {
  return n < 400 ? fewE2e(template, n) : scaleCell(template.cells.get('e2e')!, n / TEMPLATE_REQUESTS);
}

/** Everything one period holds of so many requests. */
export function periodParts(period: MadePeriod, requests: number): Part[] {
  const { tier, startS } = period;
  const parts = new PartsOfPeriod(period);
  const durations = (grouping: Grouping, key: CellKey, at: { template: Template; n: number }) => {
    parts.set(grouping, key, countsOf(at.template, at.n));
    parts.set(grouping, key, e2eOf(at.template, at.n));
  };
  const whole = (grouping: Grouping, key: CellKey, at: { template: Template; n: number }) => {
    durations(grouping, key, at);
    for (const family of ['model', 'gapE2e', 'terms', 'anatomyE2e'] as const)
      if (isStored(grouping, tier, family))
        parts.set(grouping, key, scaleCell(at.template.cells.get(family)!, at.n / TEMPLATE_REQUESTS));
  };
  durations('all', keyOf(0, 0, 0, 0), { template: templateOf(1, 1), n: Math.round(requests) });
  for (let e = 0; e < 40; e++) {
    const n = rounded(requests * SHARE.endpoint[e]!);
    if (n > 0) whole('endpoint', keyOf(e, 0, 0, 0), { template: templateOf(1, 1), n });
  }
  if (tier === '5min') return parts.all();
  for (let e = 0; e < 40; e++) {
    for (let s = 0; s < 4; s++)
      durations('endpointServiceRegion', keyOf(e, 0, s, 0), {
        template: templateOf(1, 1),
        n: rounded(requests * SHARE.endpoint[e]! * SHARE.service[s]!),
      });
    for (let m = 0; m < 6; m++)
      durations('endpointModel', keyOf(e, 0, 0, m), {
        template: templateOf(1, m),
        n: rounded(requests * SHARE.endpoint[e]! * SHARE.model[m]!),
      });
  }
  for (let e = 0; e < 40; e++)
    for (let c = 0; c < 12; c++) {
      const pairN = rounded(requests * SHARE.endpoint[e]! * SHARE.client[c]!);
      if (pairN === 0) continue;
      const template = templateOf(c, 1);
      whole('endpointClientRegion', keyOf(e, c, 0, 0), { template, n: pairN });
      for (const family of period.samples) {
        // The full sample of a day is read for single cells only
        if (family === 'sampleE2e' && tier === 'day' && e > 0) continue;
        parts.set(
          'endpointClientRegion',
          keyOf(e, c, 0, 0),
          sampleCell(family, tier, { template, key: keyOf(e, c, 0, 1), n: pairN, startS }),
        );
      }
      for (let s = 0; s < 4; s++)
        for (let m = 0; m < 6; m++) {
          const n = rounded(pairN * SHARE.service[s]! * SHARE.model[m]!);
          if (n > 0) durations('full', keyOf(e, c, s, m), { template: templateOf(c, m), n });
        }
    }
  return parts.all();
}

/** Stores a whole period. */
export async function storePeriod(
  client: PoolClient,
  project: { id: string; requestsIn28Days: number },
  period: MadePeriod,
): Promise<void> {
  const requests = (project.requestsIn28Days * PERIOD_S[period.tier]) / (DAYS * 86_400);
  await insertParts(client, project.id, { parts: periodParts(period, requests), level: FINISHED });
}
