import type { Outcome, Vantage } from '../core/terms';

/** What the wait is measured as: `wait` follows each endpoint's class. */
export type Metric = 'wait' | 'e2e' | 'ttft';

/** A question's population. Times are µs since the epoch, half-open. An empty list means "any". */
export type Scope = {
  fromUs: number;
  toUs: number;
  timeZone: string | null;
  endpoint: string[];
  clientRegion: string[];
  serviceRegion: string[];
  provider: string[];
  model: string[];
  environment: string[];
  version: string[];
  outcome: Outcome[];
  /** Null: client where the project has it, else service. Never pooled. */
  vantage: Vantage | null;
  metric: Metric;
};
