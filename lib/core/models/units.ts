// Requests, and calls inside them, as units to compare: how long, for how many, and the stratum they are matched in.

import type { SampledRequest } from '../request';
import { waitUs } from '../request';
import type { Basis } from '../terms';
import { binOf } from './bins';
import type { Unit } from './matching';

/** What two groups may be matched on. A region is the client's for requests, the service's for calls. */
export const FACTORS = ['region', 'inputTokens', 'outputTokens', 'inFlight'] as const;
export type Factor = (typeof FACTORS)[number];

/** One wait, or one call, with what it may be matched on; null: not told. */
export type Case = { us: number; weight: number; told: Record<Factor, string | null> };

const binned = (count: number | null, widths = 1) =>
  count === null ? null : String(Math.ceil(binOf(Math.max(0, count)) / widths));

/** Answers in bins of ratio 4: the latency of a token hardly depends on how many there are. */
const OUTPUT_WIDTH = 2;

/** A request as a case; null when it tells nothing about the basis. `inFlight`: null when nobody knows. */
export function requestCase(row: SampledRequest, basis: Basis, inFlight: number | null): Case | null {
  const us = waitUs(row, basis);
  if (us === null) return null;
  return {
    ...{ us, weight: row.weight },
    told: {
      region: row.dims.clientRegion ?? 'not told',
      inputTokens: binned(row.inputTokens),
      outputTokens: binned(row.outputTokens, OUTPUT_WIDTH),
      inFlight: binned(inFlight),
    },
  };
}

/** Every call of a stage as a case. Calls of one request count together as much as it does. */
export function callCases(row: SampledRequest, stage: string): (Case & { call: SampledRequest['calls'][number] })[] {
  const calls = row.calls.filter((call) => call.stage === stage);
  return calls.map((call) => ({
    ...{ call, us: call.durationUs, weight: row.weight / calls.length },
    told: {
      region: row.dims.serviceRegion ?? 'not told',
      inputTokens: binned(call.inputTokens),
      outputTokens: binned(call.outputTokens, OUTPUT_WIDTH),
      inFlight: null,
    },
  }));
}

const TOLD_BY = 0.5;

/** Of the factors asked for, those that most of both groups tell: the others cannot be matched on. */
export function toldFactors(groups: readonly (readonly Case[])[], asked: readonly Factor[]): Factor[] {
  const share = (cases: readonly Case[], factor: Factor) => {
    let [all, told] = [0, 0];
    for (const one of cases) {
      all += one.weight;
      if (one.told[factor] !== null) told += one.weight;
    }
    return all > 0 ? told / all : 0;
  };
  return asked.filter((factor) => groups.every((cases) => share(cases, factor) >= TOLD_BY));
}

/** Cases as units whose stratum is all of the factors together. */
export function unitsOf(cases: readonly Case[], factors: readonly Factor[]): Unit[] {
  return cases.map(({ us, weight, told }) => {
    const parts = factors.map((factor) => told[factor]);
    return { us, weight, stratum: parts.includes(null) ? null : parts.join('|') };
  });
}
