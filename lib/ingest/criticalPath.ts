// Model time and model hop of a request, from the calls it made.
//
//   llm  |=========|            |======|        The path is walked back from the last end: the call that ends last,
//   tool           |============|               then the one that ends last before it started, and so on. A call that
//   embed  |---|                                ran beside the path (embed) kept nobody waiting and does not count.

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
  const left = calls.map((call) => ({
    call,
    start: call.startOffsetMs ?? 0,
    end: (call.startOffsetMs ?? 0) + call.durationMs,
  }));
  const path: Step[] = [];
  let cursor = Number.POSITIVE_INFINITY;
  while (left.length > 0) {
    let best = -1;
    left.forEach(({ start, end }, i) => {
      if (start > cursor || (start === cursor && end > cursor)) return;
      const current = left[best];
      if (!current) best = i;
      else {
        const [a, b] = [Math.min(end, cursor), Math.min(current.end, cursor)];
        if (a > b || (a === b && start > current.start)) best = i;
      }
    });
    const chosen = left[best];
    if (!chosen) break;
    left.splice(best, 1);
    const length = chosen.end - chosen.start;
    const used = Math.min(chosen.end, cursor) - chosen.start;
    path.unshift({ call: chosen.call, share: length === 0 ? 1 : used / length });
    cursor = chosen.start;
  }
  return path;
}
