// Which raw requests a question is about.

import type { Outcome, Vantage } from './terms';

/** Dimensions that a filter may list; null in a list is "not told". */
export const FILTER_DIMENSIONS = [
  'endpoint',
  'clientRegion',
  'serviceRegion',
  'provider',
  'model',
  'modelRegion',
  'environment',
  'version',
] as const;
export type FilterDimension = (typeof FILTER_DIMENSIONS)[number];

/** What is left out, or an empty list, is not asked about. Durations in µs. */
export type RequestFilter = { [D in FilterDimension]?: readonly (string | null)[] } & {
  vantage?: Vantage | null;
  outcome?: readonly Outcome[];
  /** Every one of these names has this value. */
  attributes?: Readonly<Record<string, string>>;
  traceId?: string | null;
  sessionId?: string | null;
  /** Half-open: a box of the heatmap. */
  minE2eUs?: number;
  maxE2eUs?: number;
  minTtftUs?: number;
  maxTtftUs?: number;
};
