// The calls of a request that nobody could have skipped without being faster.
//
//   llm  |=========|            |======|        The path is walked back from the last end: the call that ends last,
//   tool           |============|               then the one that ends last before it started, and so on. A call that
//   embed  |---|                                ran beside the path (embed) kept nobody waiting and does not count.

import type { Call, SampledRequest } from './request';

/** Stages that are calls of a model; others are tools, retrieval and own work. */
const MODEL_STAGES: ReadonlySet<string> = new Set(['stt', 'llm', 'tts', 'embed', 'rerank']);

export type Interval = { start: number; end: number };

/** Indexes of the intervals on the path, first to last, with the share of each that lies on it. */
export function walkBack(intervals: readonly Interval[]): { at: number; share: number }[] {
  const path: { at: number; share: number }[] = [];
  const used = new Array<boolean>(intervals.length).fill(false);
  let cursor = Number.POSITIVE_INFINITY;
  for (;;) {
    let best = -1;
    for (let i = 0; i < intervals.length; i++) {
      if (used[i]) continue;
      const { start, end } = intervals[i]!;
      if (start > cursor || (start === cursor && end > cursor)) continue;
      if (best === -1) {
        best = i;
        continue;
      }
      const [a, b] = [Math.min(end, cursor), Math.min(intervals[best]!.end, cursor)];
      if (a > b || (a === b && start > intervals[best]!.start)) best = i;
    }
    if (best === -1) return path.reverse();
    used[best] = true;
    const { start, end } = intervals[best]!;
    const length = end - start;
    path.push({ at: best, share: length === 0 ? 1 : (Math.min(end, cursor) - start) / length });
    cursor = start;
  }
}

export function isModelCall(call: Call): boolean {
  return MODEL_STAGES.has(call.stage) || call.modelUs !== null || call.hopUs !== null || call.model !== null;
}

/** The calls on the path, first to last: all of them, one after the other, where a start is not told. */
export function callPath(calls: readonly Call[]): Call[] {
  if (calls.length < 2 || calls.some((call) => call.startOffsetUs === null)) return [...calls];
  const intervals = calls.map((call) => ({
    start: call.startOffsetUs ?? 0,
    end: (call.startOffsetUs ?? 0) + call.durationUs,
  }));
  return walkBack(intervals).map(({ at }) => calls[at]!);
}

/** How many model calls one after the other a request waited for; null when it tells no calls. */
export function stepsOf(row: Pick<SampledRequest, 'calls'>): number | null {
  return row.calls.length === 0 ? null : callPath(row.calls).filter(isModelCall).length;
}

/** How much of a call's end (µs) is its own: time after every other call that began before it ended. */
export function slackUs(calls: readonly Call[], at: number): number {
  const call = calls[at]!;
  if (call.startOffsetUs === null) return call.durationUs;
  const end = call.startOffsetUs + call.durationUs;
  let latest = call.startOffsetUs;
  for (let i = 0; i < calls.length; i++) {
    const other = calls[i]!;
    if (i === at || other.startOffsetUs === null || other.startOffsetUs >= end) continue;
    latest = Math.max(latest, other.startOffsetUs + other.durationUs);
  }
  return Math.max(0, end - latest);
}
