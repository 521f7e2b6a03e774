import type { LatencyInput } from './loadLatency';
import { STEPS } from './loadQuantiles';
import type { Box } from './loadSelection';
import { oneOf } from './parseQuantiles';
import { badParameter, parseScope, type Scope } from './scope';
import { GROUP_BY, type GroupBy } from './waits';

/** Query parameters of `GET /api/v1/latency`. Throws 400. `also`: read by the caller. */
export function parseLatency(params: URLSearchParams, options: { also?: readonly string[] } = {}): LatencyInput {
  const scope = parseScope(params, { also: ['step', ...(options.also ?? [])] });
  return { ...scope, step: oneOf(params, 'step', STEPS) };
}

/** Query parameters of `GET /api/v1/latency/groups`; by endpoint when groupBy is not given. Throws 400. */
export function parseLatencyGroups(
  params: URLSearchParams,
  options: { also?: readonly string[] } = {},
): Scope & { groupBy: GroupBy } {
  const scope = parseScope(params, { also: ['groupBy', ...(options.also ?? [])] });
  return { ...scope, groupBy: oneOf(params, 'groupBy', GROUP_BY) ?? 'endpoint' };
}

/** "fromMs,toMs,lowMs,highMs" as a box; null when absent. Throws 400. */
export function parseBox(text: string | null): Box | null {
  if (text === null || text === '') return null;
  const numbers = text.split(',').map(Number);
  const [fromMs = Number.NaN, toMs = Number.NaN, lowMs = Number.NaN, highMs = Number.NaN] = numbers;
  if (numbers.length === 4 && fromMs < toMs && lowMs >= 0 && lowMs < highMs)
    return { fromUs: Math.round(fromMs * 1000), toUs: Math.round(toMs * 1000), lowMs, highMs };
  throw badParameter(
    'box',
    'is no area of the heatmap',
    'Give from,to,low,high: epoch milliseconds, then durations in ms.',
  );
}
