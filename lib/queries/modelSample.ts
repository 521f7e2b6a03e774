// What needs whole requests of an endpoint: speed of generation, matched comparisons, latency by tokens and load, causes,
// and the prompt cache. All of one sample, so that its parts belong together.

import type { Value } from '../core/estimate';
import { binEdges, binOf } from '../core/models/bins';
import { type Causes, causesOf } from '../core/models/causes';
import { match } from '../core/models/matching';
import { type Share, wilson } from '../core/models/proportion';
import { tokensPerSecond, tpotUs } from '../core/models/speed';
import { type Case, callCases, type Factor, requestCase, toldFactors, unitsOf } from '../core/models/units';
import { valueDifference } from '../core/models/valueDifference';
import { type Amount, amountAt, type Measured, valueAt, weigh } from '../core/models/weighed';
import { type SampledRequest, waitUs } from '../core/request';
import type { Basis } from '../core/terms';
import { type HostName, hostOf, hostText, type ModelName, modelOf, modelText, type Percentiles } from './modelCells';

/** A sampled request with how many were in flight when it began; null when nobody knows. */
export type Loaded = { row: SampledRequest; inFlight: number | null };

export type Speed = { tpot: Percentiles; tokensPerSecond: Amount };
export type BinRow = {
  model: string;
  by: 'inputTokens' | 'outputTokens' | 'inFlight';
  from: number;
  to: number;
  /** What the requests of the bin count for, by the effective number. */
  n: number;
  p50: Value;
  p95: Value;
};
export type HostPair = {
  reference: HostName;
  candidate: HostName;
  matchedOn: Factor[];
  referenceShare: number | null;
  candidateShare: number | null;
  p50: PairValue;
  p99: PairValue;
};
/** On the common support; `difference` is candidate − reference. */
export type PairValue = { reference: Value; candidate: Value; difference: Value };
export type PromptCache = {
  /** Share of the requests that tell how much of the prompt came from a cache; null when none does. */
  toldShare: number | null;
  /** Of those: requests with any such token, and the share of all their input tokens. */
  hitShare: Share;
  tokenShare: number | null;
  /** Waits with at least half of the prompt cached against those without any, matched on region and input tokens. */
  matchedShare: number | null;
  matchedOn: Factor[];
  without: Value;
  half: Value;
  difference: Value;
};

const weightOf = (rows: readonly Loaded[]) => rows.reduce((sum, { row }) => sum + row.weight, 0);

export function casesOf(rows: readonly Loaded[], basis: Basis): Case[] {
  return rows.flatMap(({ row, inFlight }) => requestCase(row, basis, inFlight) ?? []);
}

export const rowsOf = (rows: readonly Loaded[], model: ModelName): Loaded[] =>
  rows.filter(({ row }) => modelText(modelOf(row.dims)) === modelText(model));

export function speedOf(rows: readonly Loaded[]): Speed {
  const measured = (of: (row: SampledRequest) => number | null): Measured[] =>
    rows.flatMap(({ row }) => {
      const value = of(row);
      return value === null ? [] : [{ value, weight: row.weight }];
    });
  const tpot = weigh(measured(tpotUs));
  return {
    tpot: { p50: valueAt(tpot, 0.5), p99: valueAt(tpot, 0.99) },
    tokensPerSecond: amountAt(weigh(measured(tokensPerSecond)), 0.5),
  };
}

const BY = ['inputTokens', 'outputTokens', 'inFlight'] as const;

/** Latency of each model by tokens and by load. */
export function binsOf(rows: readonly Loaded[], models: readonly ModelName[], basis: Basis): BinRow[] {
  return models.flatMap((model) => {
    const own = rowsOf(rows, model);
    return BY.flatMap((by) => {
      const bins = new Map<number, Measured[]>();
      for (const { row, inFlight } of own) {
        const count = by === 'inFlight' ? inFlight : row[by];
        const us = waitUs(row, basis);
        if (count === null || us === null) continue;
        const bin = binOf(count);
        bins.set(bin, [...(bins.get(bin) ?? []), { value: us, weight: row.weight }]);
      }
      return [...bins]
        .sort(([a], [b]) => a - b)
        .map(([bin, measured]): BinRow => {
          const weighed = weigh(measured);
          const values = { n: weighed.nEffective, p50: valueAt(weighed, 0.5), p95: valueAt(weighed, 0.95) };
          return { model: modelText(model), by, ...binEdges(bin), ...values };
        });
    });
  });
}

const HOST_FACTORS: readonly Factor[] = ['region', 'inputTokens', 'outputTokens'];

/** Hosts of the same model against the one with the most requests, by whole requests or by the calls of a stage. */
export function hostPairs(rows: readonly Loaded[], question: { basis: Basis; stage: string | null }): HostPair[] {
  const hosts = new Map<string, { host: HostName; cases: Case[] }>();
  const add = (host: HostName, one: Case) => {
    const known = hosts.get(hostText(host)) ?? { host, cases: [] };
    hosts.set(hostText(host), known);
    known.cases.push(one);
  };
  for (const { row } of rows) {
    if (question.stage === null) {
      const one = requestCase(row, question.basis, null);
      if (one !== null) add(hostOf(row.dims), one);
    } else for (const one of callCases(row, question.stage)) add(hostOf(one.call), one);
  }
  const sizeOf = ({ cases }: { cases: Case[] }) => cases.reduce((sum, { weight }) => sum + weight, 0);
  const byModel = new Map<string | null, { host: HostName; cases: Case[] }[]>();
  for (const one of [...hosts.values()].sort((a, b) => sizeOf(b) - sizeOf(a)))
    byModel.set(one.host.model, [...(byModel.get(one.host.model) ?? []), one]);
  return [...byModel.values()].flatMap(([reference, ...others]) =>
    others.map((candidate) => pairOf(reference!, candidate)),
  );
}

type HostCases = { host: HostName; cases: Case[] };

function pairOf(reference: HostCases, candidate: HostCases): HostPair {
  const matchedOn = toldFactors([reference.cases, candidate.cases], HOST_FACTORS);
  const matched = match(unitsOf(reference.cases, matchedOn), unitsOf(candidate.cases, matchedOn), 'both');
  const at = (q: number): PairValue => {
    const [a, b] = [valueAt(matched.reference, q), valueAt(matched.candidate, q)];
    return { reference: a, candidate: b, difference: valueDifference(b, a) };
  };
  return {
    ...{ reference: reference.host, candidate: candidate.host, matchedOn },
    ...{ referenceShare: matched.referenceShare, candidateShare: matched.candidateShare },
    ...{ p50: at(0.5), p99: at(0.99) },
  };
}

/** Every stage whose calls name a model or provider, most calls first. */
export function stagesOf(rows: readonly Loaded[]): string[] {
  const calls = new Map<string, number>();
  for (const { row } of rows)
    for (const { stage, provider, model } of row.calls)
      if (provider !== null || model !== null) calls.set(stage, (calls.get(stage) ?? 0) + row.weight);
  return [...calls].sort((a, b) => b[1] - a[1]).map(([stage]) => stage);
}

/** Why the median of some requests differs from that of others. Answers matter only where they are waited for. */
export function medianCauses(before: readonly Loaded[], after: readonly Loaded[], basis: Basis): Causes {
  const factors: Factor[] =
    basis === 'e2e' ? ['region', 'inputTokens', 'outputTokens', 'inFlight'] : ['region', 'inputTokens', 'inFlight'];
  return causesOf({ before: casesOf(before, basis), after: casesOf(after, basis), factors, q: 0.5 });
}

const CACHE_FACTORS: readonly Factor[] = ['region', 'inputTokens'];

/** What the model's own prompt cache does to the wait. */
export function promptCacheOf(rows: readonly Loaded[], basis: Basis): PromptCache {
  const told = rows.filter(({ row }) => row.cachedInputTokens !== null);
  const cachedOf = ({ row }: Loaded) => row.cachedInputTokens ?? 0;
  const weight = weightOf(told);
  const hit = told.filter((one) => cachedOf(one) > 0);
  const tokens = (of: (one: Loaded) => number) =>
    told.reduce((sum, one) => sum + (one.row.inputTokens === null ? 0 : of(one) * one.row.weight), 0);
  const input = tokens(({ row }) => row.inputTokens ?? 0);
  const isHalf = (one: Loaded) => one.row.inputTokens !== null && cachedOf(one) * 2 >= one.row.inputTokens;
  const [none, half] = [
    casesOf(
      told.filter((one) => cachedOf(one) === 0),
      basis,
    ),
    casesOf(hit.filter(isHalf), basis),
  ];
  const matchedOn = toldFactors([none, half], CACHE_FACTORS);
  const matched = match(unitsOf(none, matchedOn), unitsOf(half, matchedOn), 'candidate');
  const [without, withHalf] = [valueAt(matched.reference, 0.5), valueAt(matched.candidate, 0.5)];
  return {
    toldShare: rows.length === 0 || told.length === 0 ? null : weight / weightOf(rows),
    hitShare: wilson(
      weight > 0 ? weightOf(hit) / weight : 0,
      weigh(told.map(({ row }) => ({ value: 0, weight: row.weight }))).nEffective,
    ),
    tokenShare: input > 0 ? tokens(cachedOf) / input : null,
    ...{ matchedShare: matched.candidateShare, matchedOn },
    ...{ without, half: withHalf, difference: valueDifference(withHalf, without) },
  };
}
