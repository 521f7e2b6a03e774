import type { AnatomyPoint } from '../core/anatomy';
import type { EndpointClass } from '../core/endpointClass';
import type { AllTermQuantiles, QuantileKey, Quantiles, Value } from '../core/estimate';
import type { Evidence, Lever, Term } from '../core/terms';
import type { Viewer } from '../core/viewer';
import type { Metric, Scope } from './scope';

/** What an answer is about: the range after snapping outward, and the instant it was read at (RFC 3339). */
export type AnswerRange = { effectiveFrom: string; effectiveTo: string; asOf: string; timeZone: string };

/** The floor behind a lever's gain, to be named beside it. `ms` is absent when it differs from request to request. */
export type FloorInfo = {
  kind: 'override' | 'default' | 'baseline' | 'relative' | 'target' | 'none';
  ms?: number;
  source: string;
};

export type GainQuantiles = Record<QuantileKey, Value>;

export type LargestAvoidable = {
  levers: Lever[];
  quantile: QuantileKey;
  gainMs: number;
  lowMs: number | null;
  highMs: number | null;
  /** For geography: the placement that brings it, in words ("service and model to eu-west-2"). */
  scenario: string | null;
};

/** Why nothing is named, or how to read what is. */
export type HeadlineReason =
  | 'named' // one lever
  | 'level' // two levers whose gains cannot be told apart
  | 'masked' // a set that only helps together
  | 'instrument_first' // unattributed is more than half of the tail's wait
  | 'nothing_worth_fixing'
  | 'too_few'
  | 'no_data'
  | 'several_endpoints';

export type ExcludedCounts = { errors: number; cancelled: number; cached: number; withoutFirstOutput: number };

/** One client region × endpoint of the scope. */
export type BreakdownCell = {
  endpoint: string;
  clientRegion: string | null;
  endpointClass: EndpointClass;
  n: number;
  wait: Quantiles;
  e2e: Quantiles;
  model: Quantiles;
  gap: Quantiles;
  /** The window of the anatomy around the page's percentile; null without data. */
  anatomyP50: AnatomyPoint | null;
  anatomyP99: AnatomyPoint | null;
};

export type Breakdown = AnswerRange & {
  count: number;
  weighted: number;
  metric: Metric;
  vantage: 'client' | 'service' | 'probe' | null;
  excluded: ExcludedCounts;
  quantiles: {
    wait: Quantiles;
    e2e: Quantiles;
    ttft: Quantiles;
    model: Quantiles;
    gap: Quantiles;
    terms: AllTermQuantiles;
  };
  floors: Record<Lever, FloorInfo>;
  gains: Record<Lever, GainQuantiles>;
  jointGain: GainQuantiles;
  largestAvoidable: LargestAvoidable | null;
  reason: HeadlineReason;
  /** A lever that only shows at p99.9, for the second line. */
  tailLever: { lever: Lever; gainMs: number } | null;
  /** Share of requests a term touches (> 0) and its median size there, for terms that come and go. */
  touched: Partial<Record<Term, { share: number; typicalMs: number | null }>>;
  anatomy: AnatomyPoint[];
  cells: BreakdownCell[];
};

export type BreakdownEvidence = Evidence;

/** Where does the time go? */
export async function loadBreakdown(_question: { viewer: Viewer; input: Scope }): Promise<Breakdown> {
  throw new Error('built by the read path');
}
