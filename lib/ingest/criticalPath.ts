// Model time and model hop of a request, from the calls it made: those on its critical path (lib/core/callPath).

import { walkBack } from '../core/callPath';
import type { EventCall, IngestEvent } from './contract';

const MODEL_STAGES = new Set(['stt', 'llm', 'tts', 'embed', 'rerank']);

type Step = { call: EventCall; share: number };
export type CallTimes = { modelUs: number | null; hopUs: number | null; modelMeasured: boolean; hopMeasured: boolean };

/** Σ model and Σ hop (µs) of the model calls on the critical path; null where no call tells. */
export function timesOfCalls(event: IngestEvent): CallTimes {
  const calls = event.calls ?? [];
  const placed = calls.every((c) => typeof c.startOffsetMs === 'number');
  const path = (placed ? criticalPath(calls) : calls.map((call) => ({ call, share: 1 }))).filter(isModelCall);
  const exact = placed || calls.length === 1;
  const times: CallTimes = { modelUs: null, hopUs: null, modelMeasured: exact, hopMeasured: exact };
  path.forEach(({ call, share }, i) => {
    const streamed = typeof event.ttftMs === 'number' && i === path.length - 1;
    const base = (streamed ? call.ttftMs : null) ?? call.durationMs;
    const hop = call.hopMs ?? (typeof call.modelMs === 'number' ? Math.max(0, base - call.modelMs) : null);
    const model = call.modelMs ?? Math.max(0, base - (hop ?? call.providerQueueMs ?? 0));
    if (typeof call.modelMs !== 'number' || share < 1) times.modelMeasured = false;
    if (typeof call.hopMs !== 'number' || share < 1) times.hopMeasured = false;
    times.modelUs = (times.modelUs ?? 0) + Math.round(model * share * 1_000);
    if (hop !== null) times.hopUs = (times.hopUs ?? 0) + Math.round(hop * share * 1_000);
  });
  return times;
}

function isModelCall({ call }: Step): boolean {
  return MODEL_STAGES.has(call.stage) || typeof call.modelMs === 'number' || typeof call.hopMs === 'number';
}

/** The calls nobody could have skipped without being faster, first to last, with the share of each that lies on it. */
export function criticalPath(calls: readonly EventCall[]): Step[] {
  const intervals = calls.map(({ startOffsetMs, durationMs }) => ({
    start: startOffsetMs ?? 0,
    end: (startOffsetMs ?? 0) + durationMs,
  }));
  return walkBack(intervals).map(({ at, share }) => ({ call: calls[at]!, share }));
}
