// What the calls inside a request would have saved: the hop to a model, and models and tools with a target of their
// stage. Call by call, because floors are per occurrence and because a call beside a longer one saves little.

import { isModelCall, slackUs } from './callPath';
import { baselineFor, type LeverContext, MODEL_HOP_FLOOR_US, overrideFor } from './floors';
import type { Call, SampledRequest } from './request';
import { MEASURED_TERMS } from './terms';

/** Saved µs of one request, by the term they come off. */
export type CallSaved = { modelHop: number; model: number; application: number };

const HOP = MEASURED_TERMS.indexOf('modelHop');
const MODEL = MEASURED_TERMS.indexOf('model');
const APPLICATION = MEASURED_TERMS.indexOf('application');

export const beyond = (us: number | null, floorUs: number): number => (us === null ? 0 : Math.max(0, us - floorUs));

/** Whether anything but the default floor of a hop acts on calls: else most requests need no look at them. */
export function hasCallRules(context: LeverContext): boolean {
  return (context.baselines ?? []).length > 0 || context.overrides.some((o) => o.stage !== undefined);
}

/** What one call would save, its share on the path taken as its slack. */
export function callSaved(row: SampledRequest, at: number, context: LeverContext): CallSaved {
  const call = row.calls[at]!;
  const place = { ...row.dims, stage: call.stage };
  const stageFloor = (lever: 'model' | 'application') => {
    const floor = overrideFor(context, lever, place);
    // A target for the whole request's term is not one for each of its calls
    return floor?.stage === undefined ? null : floor.floorMs * 1000;
  };
  const slack = slackUs(row.calls, at);
  if (!isModelCall(call)) {
    const target = stageFloor('application');
    return {
      modelHop: 0,
      model: 0,
      application: target === null ? 0 : Math.min(slack, beyond(call.durationUs, target)),
    };
  }
  const target = stageFloor('model');
  const model = target === null ? 0 : Math.min(slack, beyond(call.modelUs, target));
  const hopSet = overrideFor(context, 'modelHop', place);
  const hopFloor = hopSet === null ? null : hopSet.floorMs * 1000;
  const baseline = hopFloor === null ? baselineOf(row, call, context) : null;
  if (baseline !== null) {
    const over = Math.min(slack, beyond(call.durationUs, baseline));
    const hop = Math.min(over, call.hopUs ?? 0);
    // A target of the model's own keeps its time: nothing is counted twice
    return { modelHop: hop, model: Math.max(model, Math.min(over - hop, call.modelUs ?? over)), application: 0 };
  }
  const modelHop = Math.min(slack - model, beyond(call.hopUs, hopFloor ?? MODEL_HOP_FLOOR_US));
  return { modelHop: Math.max(0, modelHop), model, application: 0 };
}

function baselineOf(row: SampledRequest, call: Call, context: LeverContext): number | null {
  const told = { provider: call.provider ?? row.dims.provider, model: call.model ?? row.dims.model };
  const found = baselineFor(context, { ...told, modelRegion: call.modelRegion, stage: call.stage });
  return found === null ? null : found.baselineMs * 1000;
}

/**
 * What the model hop would save, with how much of it a baseline takes from the model's own time. `floorUs`: an absolute
 * floor for the whole term.
 */
export function hopSavedUs(
  row: SampledRequest,
  context: LeverContext,
  floorUs: number | null,
): { fromHop: number; fromModel: number } {
  const hop = row.terms[HOP] ?? null;
  const model = row.terms[MODEL] ?? null;
  const { calls } = row;
  if (calls.length === 0) return wholeHop(row, context, floorUs);
  const hasHops = calls.some((call) => call.hopUs !== null);
  if (floorUs !== null && !context.overrides.some((o) => o.lever === 'modelHop' && o.stage !== undefined)) {
    const saved = beyond(hop, floorUs);
    if (!hasHops) return { fromHop: saved, fromModel: 0 };
    let own = 0;
    for (let at = 0; at < calls.length; at++) own += Math.min(calls[at]!.hopUs ?? 0, slackUs(calls, at));
    return { fromHop: Math.min(saved, own), fromModel: 0 };
  }
  let fromHop = 0;
  let fromModel = 0;
  const rules = hasCallRules(context);
  for (let at = 0; at < calls.length; at++) {
    if (!rules) {
      if (calls[at]!.hopUs !== null)
        fromHop += Math.min(slackUs(calls, at), beyond(calls[at]!.hopUs, MODEL_HOP_FLOOR_US));
      continue;
    }
    const saved = callSaved(row, at, context);
    fromHop += saved.modelHop;
    if (baselineOf(row, calls[at]!, context) !== null) fromModel += saved.model;
  }
  if (!hasHops && fromModel === 0) fromHop = beyond(hop, MODEL_HOP_FLOOR_US * Math.max(1, calls.length));
  return { fromHop: Math.min(fromHop, hop ?? 0), fromModel: Math.min(fromModel, model ?? 0) };
}

function wholeHop(row: SampledRequest, context: LeverContext, floorUs: number | null) {
  const hop = row.terms[HOP] ?? null;
  const model = row.terms[MODEL] ?? null;
  const has = (context.baselines ?? []).length > 0 && (hop !== null || model !== null);
  const baseline = has ? baselineFor(context, { ...row.dims, stage: null }) : null;
  if (baseline === null || floorUs !== null)
    return { fromHop: beyond(hop, floorUs ?? MODEL_HOP_FLOOR_US), fromModel: 0 };
  const over = Math.max(0, (hop ?? 0) + (model ?? 0) - baseline.baselineMs * 1000);
  const fromHop = Math.min(over, hop ?? 0);
  return { fromHop, fromModel: Math.min(over - fromHop, model ?? 0) };
}

/** Saved (µs) on models or own work by targets of a stage, where the request's calls are known. */
export function stageTargetSavedUs(row: SampledRequest, lever: 'model' | 'application', context: LeverContext): number {
  let sum = 0;
  for (let at = 0; at < row.calls.length; at++) {
    const isOwn = lever === 'application' || baselineOf(row, row.calls[at]!, context) === null;
    if (isOwn) sum += callSaved(row, at, context)[lever];
  }
  return Math.min(sum, row.terms[lever === 'model' ? MODEL : APPLICATION] ?? 0);
}
