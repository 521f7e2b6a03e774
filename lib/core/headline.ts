// What a page says first: the levers to begin with, or why none is named.

import type { QuantileKey, Value } from './estimate';
import type { Lever } from './terms';

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

/** A lever that only shows at p99.9, for the second line. */
export type TailLever = { lever: Lever; gainMs: number };

export type Headline = {
  reason: HeadlineReason;
  largestAvoidable: LargestAvoidable | null;
  tailLever: TailLever | null;
};
