import { COUNTS } from '../core/cell';
import { BASIS_OF, DEFAULT_OBJECTIVES, ENDPOINT_CLASSES, type EndpointClass } from '../core/endpointClass';
import type { Value } from '../core/estimate';
import { effectiveN, quantilesUs } from '../core/histogram';
import { displayValue } from '../core/quantile';
import type { Outcome } from '../core/terms';
import { cellOf, type Member } from '../db/snapshot';
import { durationOf } from './population';

/** The default objective of a class: this share of requests ok and within the threshold. */
export type SloLine = {
  endpointClass: EndpointClass;
  endpoints: string[];
  metric: 'e2e' | 'ttft';
  thresholdMs: number;
  objective: number;
  total: number;
  good: number;
  /** good ÷ total, exact; null without requests. */
  goodRatio: number | null;
  /** ok ÷ all, errors and timeouts counted as failures. */
  successRatio: number | null;
  /** Signed share of the error budget left; null without requests. */
  budgetRemaining: number | null;
  /** Over all requests, failures at +∞ (then only a lower bound), clamped to the side of the threshold the counts say. */
  p99: Value;
};

/** Weights of a population against the default objective of a class, exact. */
export type Judged = { ok: number; good: number; failed: number };

/** What the counts of members say about a class's default objective. */
export function judge(members: readonly Member[], endpointClass: EndpointClass): Judged {
  const index = ENDPOINT_CLASSES.indexOf(endpointClass);
  const sum = (outcome: Outcome, of: (member: Member) => number) =>
    members.filter((m) => m.key.outcome === outcome).reduce((total, m) => total + of(m), 0);
  const weight = (m: Member) => cellOf(m.set, 'counts').counts[COUNTS.indexOf('weight')]!;
  const judged = (m: Member) => cellOf(m.set, 'counts').judged[index]!;
  return {
    ok: sum('ok', weight),
    good: sum('ok', judged),
    failed: sum('error', weight) + sum('timeout', weight) + sum('cancelled', judged),
  };
}

function sloLine(endpointClass: EndpointClass, endpoints: string[], members: readonly Member[]): SloLine {
  const { thresholdUs, objective } = DEFAULT_OBJECTIVES[endpointClass];
  const { ok, good, failed } = judge(members, endpointClass);
  const total = ok + failed;
  const goodRatio = total === 0 ? null : good / total;
  const okMembers = members.filter((m) => m.key.outcome === 'ok');
  const waits = durationOf(okMembers, BASIS_OF[endpointClass], () => BASIS_OF[endpointClass]);
  const all = { ...waits, weight: waits.weight + failed, weightSquared: waits.weightSquared + failed };
  const raw = displayValue(effectiveN(all), objective, (qs) => {
    // Failures stand at +∞: a rank among them has no value, only "more than the slowest ok request".
    const scaled = qs.map((q) => (q * all.weight) / waits.weight);
    return quantilesUs(
      waits,
      scaled.map((q) => Math.min(1, q)),
    ).map((us, i) => (scaled[i]! > 1 + 1e-9 ? null : us));
  });
  return {
    ...{ endpointClass, endpoints, metric: BASIS_OF[endpointClass], thresholdMs: thresholdUs / 1000, objective },
    ...{ total, good, goodRatio, successRatio: total === 0 ? null : ok / total },
    budgetRemaining: goodRatio === null ? null : 1 - (1 - goodRatio) / (1 - objective),
    p99: clamp(raw, thresholdUs / 1000, good >= Math.ceil(objective * total - 1e-9)),
  };
}

/** Puts a shown percentile on the side of the threshold that the exact counts say. */
function clamp(value: Value, thresholdMs: number, within: boolean): Value {
  if (value.ms === null) return value;
  const ms = within ? Math.min(value.ms, thresholdMs) : Math.max(value.ms, thresholdMs);
  return { ...value, ms };
}

/** One line a class that has endpoints here; members hold counts and both durations. */
export function sloLines(members: readonly Member[], classes: ReadonlyMap<string, EndpointClass>): SloLine[] {
  return ENDPOINT_CLASSES.flatMap((endpointClass) => {
    const endpoints = [...classes].filter(([, c]) => c === endpointClass).map(([endpoint]) => endpoint);
    if (endpoints.length === 0) return [];
    return [
      sloLine(
        endpointClass,
        endpoints,
        members.filter((m) => endpoints.includes(m.key.endpoint!)),
      ),
    ];
  });
}
