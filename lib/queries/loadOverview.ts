import type { AnatomyPoint } from '../core/anatomy';
import type { EndpointClass } from '../core/endpointClass';
import type { Quantiles } from '../core/estimate';
import type { Viewer } from '../core/viewer';
import type { AnswerRange, Breakdown, BreakdownCell } from './loadBreakdown';
import type { Scope } from './scope';

/** The default objective of a class: this share of requests ok and within the threshold. */
export type SloLine = {
  endpointClass: EndpointClass;
  endpoints: string[];
  metric: 'e2e' | 'ttft';
  thresholdMs: number;
  objective: number;
  total: number;
  good: number;
  /** good ÷ total, exact; null without requests. */
  goodRatio: number | null;
  /** ok ÷ all, errors and timeouts counted as failures. */
  successRatio: number | null;
  /** Signed share of the error budget left; null without requests. */
  budgetRemaining: number | null;
  /** Over all requests, failures at +∞, clamped to the side of the threshold that the counts say. */
  p99: Quantiles['p99'];
};

export type OverviewCell = BreakdownCell & {
  /** Requests × gain, or requests that would come inside their objective: what the ranking goes by. */
  rank: number;
  largestAvoidable: Breakdown['largestAvoidable'];
  reason: Breakdown['reason'];
};

export type Overview = AnswerRange & {
  vantage: 'client' | 'service' | 'probe' | null;
  slos: SloLine[];
  /** The ten largest, ranked; `moreCells` says how many and how many requests are not shown. */
  cells: OverviewCell[];
  moreCells: { cells: number; n: number };
  /** The cell the sentence is about (the first ranked with a named lever, else the first), with its floor. */
  headline: {
    cell: OverviewCell;
    breakdown: Pick<Breakdown, 'floors' | 'gains' | 'largestAvoidable' | 'reason' | 'tailLever' | 'touched'>;
    anatomy: AnatomyPoint[];
  } | null;
  /** Null: nothing has ever been received. */
  newestEventAt: string | null;
};

/** Are we healthy, and what should we fix first? */
export async function loadOverview(_question: { viewer: Viewer; input: Scope }): Promise<Overview> {
  throw new Error('built by the read path');
}
