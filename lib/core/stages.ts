// The stages of requests (speech-to-text, LLM, text-to-speech, retrieval, tools, own): how long each takes, what of it is
// the hop to a model, and what its hop or a target of its own would save. From whole requests that tell their calls.

import { isModelCall, stepsOf } from './callPath';
import { callSaved } from './callSavings';
import type { Quantiles } from './estimate';
import { QUANTILE_KEYS, QUANTILE_OF, type QuantileKey, type Value } from './estimate';
import { baselineFor, type FloorInfo, type LeverContext, MODEL_HOP_FLOOR_US, overrideFor } from './floors';
import { gainsOfEach } from './gains';
import type { GainQuantiles } from './headline';
import { displayValue, quantileOfSorted } from './quantile';
import { type Call, type SampledRequest, waitUs } from './request';
import { populationOf } from './strata';
import type { Basis } from './terms';

const LEVERS_OF_CALLS = ['modelHop', 'model', 'application'] as const;
type CallLever = (typeof LEVERS_OF_CALLS)[number];

export type Stage = {
  stage: string;
  isModel: boolean;
  /** Share of the requests that have such a call (weights counted), and how many those have on average. */
  share: number;
  callsEach: number;
  /** Time in the stage a request: calls beside each other counted once. */
  duration: Quantiles;
  /** Null: no call of the stage tells it. */
  hop: Quantiles | null;
  model: Quantiles | null;
  /** What the whole wait would gain, for the levers that act on this stage. */
  gains: Partial<Record<CallLever, GainQuantiles>>;
  floors: Partial<Record<CallLever, FloorInfo>>;
};

export type Stages = {
  stages: Stage[];
  /** Model calls one after the other in each request: each adds its own latency. Null: no request tells its calls. */
  steps: { n: number; mean: number; p50: number; p99: number; max: number } | null;
};

const MOST_STAGES = 12;

/** Stages by how much time they take in all, the longest first. */
export function stagesOf(question: {
  rows: readonly SampledRequest[];
  basis: Basis;
  context: LeverContext;
  seed: string;
}): Stages {
  const rows = question.rows.filter((row) => waitUs(row, question.basis) !== null);
  const told = rows.filter((row) => row.calls.length > 0);
  const spent = new Map<string, number>();
  for (const row of told)
    for (const call of row.calls) spent.set(call.stage, (spent.get(call.stage) ?? 0) + row.weight * call.durationUs);
  const names = [...spent]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_STAGES)
    .map(([name]) => name);
  if (names.length === 0) return { stages: [], steps: null };
  const saved = savedByStage(rows, question.context);
  const wait = Float64Array.from(rows, (row) => waitUs(row, question.basis)!);
  const gains = gainsOfEach({ rows, waitUs: wait }, saved, question.seed);
  const total = rows.reduce((sum, row) => sum + row.weight, 0);
  return {
    stages: names.map((stage) => stageOf(stage, { told, total, gains, context: question.context })),
    steps: stepsOfRows(told),
  };
}

const optionName = (stage: string, lever: CallLever) => JSON.stringify([stage, lever]);

/** What each stage's calls would save each request (µs), by stage and lever; only where anything is saved. */
function savedByStage(rows: readonly SampledRequest[], context: LeverContext): Map<string, Float64Array> {
  const saved = new Map<string, Float64Array>();
  rows.forEach((row, i) => {
    row.calls.forEach((call, at) => {
      const one = callSaved(row, at, context);
      for (const lever of LEVERS_OF_CALLS) {
        if (one[lever] <= 0) continue;
        const name = optionName(call.stage, lever);
        const into = saved.get(name) ?? new Float64Array(rows.length);
        into[i]! += one[lever];
        saved.set(name, into);
      }
    });
  });
  return saved;
}

type Part = {
  told: readonly SampledRequest[];
  total: number;
  gains: Map<string, GainQuantiles>;
  context: LeverContext;
};

function stageOf(stage: string, { told, total, gains, context }: Part): Stage {
  const rows = told.filter((row) => row.calls.some((call) => call.stage === stage));
  const calls = (row: SampledRequest) => row.calls.filter((call) => call.stage === stage);
  const sum = (of: (call: Call) => number | null) => (row: SampledRequest) => {
    const known = calls(row)
      .map(of)
      .filter((us) => us !== null);
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
  };
  const weight = rows.reduce((all, row) => all + row.weight, 0);
  const own = LEVERS_OF_CALLS.filter((lever) => gains.has(optionName(stage, lever)));
  const hop = quantilesOf(
    rows,
    sum((call) => call.hopUs),
  );
  const model = quantilesOf(
    rows,
    sum((call) => call.modelUs),
  );
  return {
    stage,
    isModel: rows.some((row) => calls(row).some(isModelCall)),
    share: weight / total,
    callsEach: rows.reduce((all, row) => all + row.weight * calls(row).length, 0) / weight,
    duration: quantilesOf(rows, (row) => unionUs(calls(row))),
    hop: hop.n === 0 ? null : hop,
    model: model.n === 0 ? null : model,
    gains: Object.fromEntries(own.map((lever) => [lever, gains.get(optionName(stage, lever))!])),
    floors: Object.fromEntries(own.map((lever) => [lever, floorOf(rows, { stage, lever, context })])),
  };
}

function floorOf(
  rows: readonly SampledRequest[],
  { stage, lever, context }: { stage: string; lever: CallLever; context: LeverContext },
): FloorInfo {
  const set = overrideFor(context, lever, { ...rows[0]!.dims, stage });
  const source = `set in the project, version ${context.version}`;
  if (set !== null) return { kind: lever === 'modelHop' ? 'override' : 'target', ms: set.floorMs, source };
  const hasBaseline = rows.some((row) =>
    row.calls.some((call) => {
      const told = { provider: call.provider ?? row.dims.provider, model: call.model ?? row.dims.model };
      return call.stage === stage && baselineFor(context, { ...told, modelRegion: call.modelRegion, stage }) !== null;
    }),
  );
  if (hasBaseline) return { kind: 'baseline', source: 'the baseline of each call that has one, else 2 ms a call' };
  return { kind: 'default', ms: MODEL_HOP_FLOOR_US / 1000, source: 'each call, to a model next door' };
}

/** Time (µs) covered by the calls: beside each other once, without starts one after the other. */
function unionUs(calls: readonly Call[]): number {
  if (calls.some((call) => call.startOffsetUs === null)) return calls.reduce((sum, call) => sum + call.durationUs, 0);
  let covered = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const call of [...calls].sort((a, b) => a.startOffsetUs! - b.startOffsetUs!)) {
    const end = call.startOffsetUs! + call.durationUs;
    covered += Math.max(0, end - Math.max(until, call.startOffsetUs!));
    until = Math.max(until, end);
  }
  return covered;
}

/** Percentiles over the rows that tell the value, by the display rule. */
function quantilesOf(rows: readonly SampledRequest[], of: (row: SampledRequest) => number | null): Quantiles {
  const known = rows.filter((row) => of(row) !== null);
  const sorted = known.map((row) => ({ us: of(row)!, weight: row.weight })).sort((a, b) => a.us - b.us);
  const values = sorted.map((one) => one.us);
  const weights = sorted.map((one) => one.weight);
  const { nEffective } = populationOf(known);
  const read = (qs: readonly number[]) => qs.map((q) => quantileOfSorted(values, weights, q));
  const shown = QUANTILE_KEYS.map((key) => [key, displayValue(nEffective, QUANTILE_OF[key], read)]);
  return {
    n: known.length,
    maxMs: values.length === 0 ? null : values.at(-1)! / 1000,
    ...(Object.fromEntries(shown) as Record<QuantileKey, Value>),
  };
}

function stepsOfRows(told: readonly SampledRequest[]): Stages['steps'] {
  const steps = told.map((row) => ({ steps: stepsOf(row)!, weight: row.weight })).sort((a, b) => a.steps - b.steps);
  const values = steps.map((one) => one.steps);
  const weights = steps.map((one) => one.weight);
  const total = weights.reduce((sum, w) => sum + w, 0);
  return {
    n: told.length,
    mean: steps.reduce((sum, one) => sum + one.steps * one.weight, 0) / total,
    p50: quantileOfSorted(values, weights, 0.5)!,
    p99: quantileOfSorted(values, weights, 0.99)!,
    max: values.at(-1)!,
  };
}
