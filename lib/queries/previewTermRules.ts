import { breakdown, type TimedRequest } from '../core/request';
import { TERMS, type Term } from '../core/terms';
import type { TermRule } from '../core/trace/attributed';
import { attributeTrace } from '../core/trace/attributeTrace';
import { ruleFor } from '../core/trace/classify';
import type { Span } from '../core/trace/span';
import type { Viewer } from '../core/viewer';
import { assembledTraces } from '../db/assemblyStore';
import { addDays, utcDay } from '../db/partitions';
import { recentTraceIds } from '../db/spanStore';
import { loadTermRules } from '../db/termRules';
import { spansOfTraces } from './traceSpans';

const MOST_TRACES = 200;

export type RulesPreview = {
  /** Recent requests that were attributed again, with the rules in force and with the new ones. */
  requests: number;
  changed: number;
  /** How many of their spans each rule matches, in the order of the rules. */
  matchedSpans: number[];
  /** Mean time a request, of terms that change; ms. */
  terms: { term: Term; beforeMs: number; afterMs: number }[];
  /** Endpoints that appear with the new rules, by number of requests. */
  endpoints: { endpoint: string; requests: number }[];
};

/** What would these rules change? Tried on up to 200 of the latest traces; nothing is stored. */
export async function previewTermRules({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: { rules: readonly TermRule[] };
}): Promise<RulesPreview> {
  const { projectId } = viewer;
  const traceIds = await recentTraceIds(projectId, MOST_TRACES);
  const sinceDay = addDays(utcDay(Date.now() * 1_000), -8);
  const traces = [...(await assembledTraces(projectId, { traceIds, sinceDay })).values()];
  const spans = [...(await spansOfTraces(projectId, traces)).values()];
  const { rules: inForce } = await loadTermRules(projectId);
  const before = requestsOf(spans, inForce);
  const after = requestsOf(spans, input.rules);
  return {
    requests: after.size,
    changed: [...after].filter(([id, request]) => JSON.stringify(request) !== JSON.stringify(before.get(id))).length,
    matchedSpans: input.rules.map((rule) => spans.flat().filter((span) => matches(span, rule)).length),
    terms: changedTerms([...before.values()], [...after.values()]),
    endpoints: endpointsOf([...after.values()]),
  };
}

function requestsOf(traces: readonly Span[][], rules: readonly TermRule[]): Map<string, TimedRequest> {
  const requests = traces.flatMap((spans) => attributeTrace({ spans, rules }).requests);
  return new Map(requests.map(({ request }) => [request.id, request]));
}

const matches = (span: Span, rule: TermRule) =>
  (['term', 'endpoint', 'region'] as const).some((what) => ruleFor(span, [rule], what) !== null);

function changedTerms(before: readonly TimedRequest[], after: readonly TimedRequest[]): RulesPreview['terms'] {
  const mean = (requests: readonly TimedRequest[], term: Term) =>
    requests.reduce((us, request) => us + (breakdown(request, 'e2e')[term] ?? 0), 0) /
    Math.max(1, requests.length) /
    1_000;
  return TERMS.map((term) => ({ term, beforeMs: mean(before, term), afterMs: mean(after, term) })).filter(
    ({ beforeMs, afterMs }) => Math.abs(beforeMs - afterMs) >= 0.05,
  );
}

function endpointsOf(requests: readonly TimedRequest[]): RulesPreview['endpoints'] {
  const counts = new Map<string, number>();
  for (const { dims } of requests) counts.set(dims.endpoint, (counts.get(dims.endpoint) ?? 0) + 1);
  return [...counts]
    .map(([endpoint, count]) => ({ endpoint, requests: count }))
    .sort((a, b) => b.requests - a.requests)
    .slice(0, 10);
}
