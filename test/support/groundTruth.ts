import { readFileSync } from 'node:fs';
import path from 'node:path';

export const VARIANTS = ['geography76', 'queue', 'cold', 'balanced'] as const;
export type Variant = (typeof VARIANTS)[number];

/** One request of the network testbed, every part timed on one monotonic clock. The *Ms parts add up to e2eMs. */
export interface TruthRow {
  id: string;
  class: string;
  startUnixMs: number;
  e2eMs: number;
  networkMs: number;
  queueMs: number;
  routingMs: number;
  coldMs: number;
  hopMs: number;
  modelMs: number;
  otherMs: number;
  clientRegion: string;
  gatewayRegion: string;
  endpoint: string;
  model: string;
}

type AtQuantile = { p50: number; p90: number; p95: number; p99: number };
export const TRUTH_TERMS = ['network', 'hop', 'queue', 'routing', 'cold', 'model', 'other'] as const;
export type TruthTerm = (typeof TRUTH_TERMS)[number];
export const TRUTH_LEVERS = ['network', 'hop', 'queue', 'routing', 'cold'] as const;
export type TruthLever = (typeof TRUTH_LEVERS)[number];

/** Exact nearest-rank values over all rows, in milliseconds. */
export interface TruthExpected {
  intendedLargestAvoidableTerm: TruthLever | 'none';
  requests: number;
  floorsMs: Record<TruthLever, number>;
  e2e: AtQuantile & { max: number };
  terms: Record<TruthTerm, AtQuantile>;
  counterfactual: Record<TruthLever, { savingMs: AtQuantile }>;
}

/** What the testbed calls a term, in the product's words. */
export const TERM_OF = {
  network: 'network',
  hop: 'modelHop',
  queue: 'queue',
  routing: 'routing',
  cold: 'coldStart',
  model: 'model',
  other: 'application',
} as const satisfies Record<TruthTerm, string>;

export const LEVER_OF = {
  network: 'geography',
  hop: 'modelHop',
  queue: 'queue',
  routing: 'routing',
  cold: 'coldStart',
} as const satisfies Record<TruthLever, string>;

const folder = path.join(import.meta.dirname, '../data/groundtruth');
const SPREAD_MS = 50 * 60_000;
const END_BEFORE_NOW_MS = 5 * 60_000;

/** The rows of a variant, in the order they were sent. */
export function readTruthRows(variant: Variant): TruthRow[] {
  const text = readFileSync(path.join(folder, `${variant}.jsonl`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TruthRow);
}

/** The exact figures of a variant. */
export function readTruthExpected(variant: Variant): TruthExpected {
  return JSON.parse(readFileSync(path.join(folder, `${variant}.expected.json`), 'utf8')) as TruthExpected;
}

/**
 * Rows as events of the API (MAPPING: set-up is folded into network, no ttft, vantage client), spread evenly over
 * 50 minutes that end 5 minutes before `nowMs`. `endpoint` replaces the testbed's, so that variants can share a project.
 */
export function toEvents(rows: readonly TruthRow[], options: { nowMs: number; endpoint?: string }) {
  const firstMs = options.nowMs - END_BEFORE_NOW_MS - SPREAD_MS;
  return rows.map((row, index) => ({
    id: row.id,
    startedAt: Math.floor(firstMs + (index * SPREAD_MS) / rows.length),
    endpoint: options.endpoint ?? row.endpoint,
    vantage: 'client' as const,
    clientRegion: row.clientRegion,
    serviceRegion: row.gatewayRegion,
    model: row.model,
    e2eMs: row.e2eMs,
    terms: {
      networkMs: row.networkMs,
      queueMs: row.queueMs,
      routingMs: row.routingMs,
      coldStartMs: row.coldMs,
      modelHopMs: row.hopMs,
      modelMs: row.modelMs,
      applicationMs: row.otherMs,
    },
  }));
}

/** Body of PUT /api/v1/floors that lays the testbed's absolute floors over the levers. */
export function toFloors(expected: TruthExpected, endpoint?: string) {
  return {
    overrides: TRUTH_LEVERS.map((term) => ({
      lever: LEVER_OF[term],
      floorMs: expected.floorsMs[term],
      ...(endpoint === undefined ? {} : { endpoint }),
    })),
  };
}
