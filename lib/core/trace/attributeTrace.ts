// Spans → requests. The order: trees → places on one clock → waits nobody shows → critical path → names → terms.
//
//   e2e    the root, or until the answer of a 202 was ready
//   ttft   the first output that reached the user; what the path holds until then adds up to it, the rest is decode
//   terms  the path, stretch by stretch; stretches partition it, so the terms add up exactly

import { packEvidence, type TimedRequest } from '../request';
import { type Evidence, MEASURED_TERMS, type MeasuredTerm, type Term } from '../terms';
import type { AttributedTrace, AttributeTrace, IgnoredReason, TermRule, TracedRequest, TraceNote } from './attributed';
import { type CallRecord, callsOf, toldOf } from './calls';
import { connectionKindOf } from './connections';
import { clientRegionOf, endpointOf, firstServed, outcomeOf, vantageOf, weightOf } from './describe';
import { type FirstOutput, firstOutputOf, judge } from './firstOutput';
import { type NamedTime, nameOwnTime, type Surroundings, survey, zeroTerms } from './ownTime';
import { arrivalUs, criticalPath, type OwnTime, pathUntil } from './path';
import { type Placement, placeTree } from './place';
import { regionOf, textOf } from './read';
import { type ReplicaStart, replicaStartsOf } from './replicas';
import { isRequest } from './requests';
import { shapeTree } from './shape';
import type { Span } from './span';
import { buildForest, type Node, SLACK_US, walkTree } from './tree';

export type TraceQuestion = Parameters<AttributeTrace>[0];

/** One request as it stands in its tree: what the page of a request draws, too. */
export type TraceAnalysis = {
  root: Node;
  around: Surroundings;
  placement: Placement;
  /** The whole path, and the path until the first output (the same when there is none). */
  path: NamedTime[];
  waitPath: NamedTime[];
  calls: CallRecord[];
  ttft: { us: number | null; note: TraceNote | null };
  orphans: number;
};

const NOBODY: ReadonlySet<string> = new Set([]);

/** Spans → requests, ready to append. Pure and total: no term is negative, and all add up. */
export function attributeTrace(question: TraceQuestion): AttributedTrace {
  const requests: TracedRequest[] = [];
  const ignored: { rootSpanId: string | null; spans: number; reason: IgnoredReason }[] = [];
  const { analyses, rootless, others } = analyseTrace(question);
  if (rootless > 0) ignored.push({ rootSpanId: null, spans: rootless, reason: 'no_root' });
  for (const root of others)
    ignored.push({
      ...{ rootSpanId: root.span!.spanId, spans: [...walkTree(root)].length },
      reason: isRequest(root, question.rules, NOBODY) ? 'lost_context' : 'no_request',
    });
  for (const analysis of analyses) requests.push(requestOf(analysis, question.rules));
  return { requests, ignored };
}

/** Every request of these spans with its tree, and the roots that are none. */
export function analyseTrace(question: TraceQuestion): { analyses: TraceAnalysis[]; others: Node[]; rootless: number } {
  const forest = buildForest(question.spans, question.rules);
  const starts = [...(question.replicaStarts ?? []), ...replicaStartsOf(question.spans)];
  const analyses: TraceAnalysis[] = [];
  const others: Node[] = [];
  for (const root of forest.roots) {
    if (isRequest(root, question.rules, question.workers ?? NOBODY))
      analyses.push(analyse(root, { starts, orphans: forest.orphans }));
    else others.push(root);
  }
  return { analyses, others, rootless: forest.rootless };
}

function analyse(root: Node, { starts, orphans }: { starts: readonly ReplicaStart[]; orphans: number }): TraceAnalysis {
  const placement = placeTree(root);
  if (placement.answeredUs !== null) root.endUs = Math.max(root.endUs, placement.answeredUs);
  shapeTree(root, starts);
  const around = survey(root, vantageOf(root));
  const whole = criticalPath(root);
  const name = (times: readonly OwnTime[]) => splitCalls(times.map((time) => nameOwnTime(time, around)));
  const path = name(whole);
  const calls = callsOf(around, path);
  const ttft = firstOutputAt(root, calls);
  const waitPath = ttft.us === null ? path : name(pathUntil(root, root.startUs + ttft.us));
  const timesOf = byCall(waitPath);
  for (const record of calls)
    fillCall(record, {
      around,
      own: record.onPath ? (timesOf.get(record.node) ?? []) : name(criticalPath(record.node)),
    });
  return { root, around, placement, path, waitPath, calls, ttft, orphans };
}

/** Takes what is known of a call's way out of its model time, from its front: a gateway's own work, then the hop. */
function splitCalls(times: NamedTime[]): NamedTime[] {
  const timesOf = byCall(times);
  const left = new Map<Node, { routing: number; modelHop: number }>();
  const result: NamedTime[] = [];
  for (const time of times) {
    const { call, term } = time;
    if (call === null || term !== 'model' || !time.derived || call.role.is !== 'call') {
      result.push(time);
      continue;
    }
    const known = left.get(call) ?? wayOnPathUs(call, timesOf.get(call)![0]!);
    left.set(call, known);
    let at = time.startUs;
    for (const part of ['routing', 'modelHop'] as const) {
      const us = Math.min(known[part], time.endUs - at);
      known[part] -= us;
      if (us > 0) result.push({ ...time, term: part, startUs: at, endUs: at + us });
      at += us;
    }
    if (at < time.endUs) result.push({ ...time, startUs: at });
  }
  return result;
}

/** The part of a call's way that lies on the path: as much of it as of the call; µs. */
function wayOnPathUs(call: Node, first: NamedTime): { routing: number; modelHop: number } {
  const told = toldOf(call);
  const lengthUs = call.endUs - call.startUs;
  if (lengthUs <= 0) return { routing: 0, modelHop: 0 };
  // A path that starts within the call (something else was waited for until then) has that much less of it
  const share = (call.endUs - Math.max(call.startUs, first.startUs)) / lengthUs;
  return { routing: Math.round((told.gatewayUs ?? 0) * share), modelHop: Math.round((told.hopAtLeastUs ?? 0) * share) };
}

/** The stretches of each call. */
function byCall(times: readonly NamedTime[]): Map<Node, NamedTime[]> {
  const found = new Map<Node, NamedTime[]>();
  for (const time of times) {
    if (time.call === null) continue;
    const own = found.get(time.call);
    if (own === undefined) found.set(time.call, [time]);
    else own.push(time);
  }
  return found;
}

/** Hop and model of a call whose callee is seen: what its own path says. */
function fillCall(record: CallRecord, { around, own }: { around: Surroundings; own: readonly NamedTime[] }): void {
  const { node, call } = record;
  if (!around.calls.has(node)) return;
  const sum = (term: Term) => own.reduce((us, time) => us + (time.term === term ? time.endUs - time.startUs : 0), 0);
  const seen = around.seenCallees.has(node) || own.some((time) => time.node !== node && time.term === 'modelHop');
  if (seen) record.call = { ...call, hopUs: sum('modelHop'), modelUs: sum('model') };
  else if (call.modelUs === null && call.hopUs !== null) record.call = { ...call, modelUs: sum('model') };
}

/** When the user had the first output, and why not when nothing says so. */
function firstOutputAt(root: Node, calls: readonly CallRecord[]): TraceAnalysis['ttft'] {
  const lengthUs = root.endUs - root.startUs;
  let reason: TraceNote | null = null;
  for (const node of speakers(root, calls)) {
    const first = firstOutputOf(node.span!);
    const at = first.is === 'told' ? arrivalUs(node, node.startUs + first.afterUs) : null;
    if (first.is !== 'told') reason ??= noteOf(first);
    if (at === null) continue;
    const judged = judge(at - root.startUs, lengthUs);
    return judged.is === 'told' ? { us: judged.afterUs, note: null } : { us: null, note: noteOf(judged) };
  }
  return { us: null, note: reason };
}

const noteOf = (first: FirstOutput): TraceNote | null =>
  first.is === 'noStream' ? 'noStreamObserved' : first.is === 'unbelievable' ? 'ttftUnbelievable' : null;

/** Spans that may tell the user's first output, the nearest to the user first. */
function speakers(root: Node, calls: readonly CallRecord[]): Node[] {
  const last = calls.findLast((record) => record.onPath);
  const found: Node[] = [root];
  if (last === undefined) return found;
  const above: Node[] = [];
  for (let at = last.node.parent; at !== null && at !== root; at = at.parent) if (at.span) above.unshift(at);
  const below = [...walkTree(last.node)].filter((node) => node.span !== null && node.role.is === 'compute');
  return [...new Set([...found, ...above, last.node, ...below])];
}

function requestOf(analysis: TraceAnalysis, rules: readonly TermRule[]): TracedRequest {
  const { root, around, calls, ttft } = analysis;
  const span = root.span!;
  const entry = span.kind === 'server' ? root : firstServed(root);
  const e2eUs = root.endUs - root.startUs;
  const { terms, evidence, decodeUs } = termsOf(analysis);
  const models = calls.filter((record) => around.calls.has(record.node));
  const main =
    models.findLast((r) => r.onPath && r.call.stage === 'llm') ?? models.findLast((r) => r.onPath) ?? models[0];
  const own = (entry ?? root).span!;
  const request: TimedRequest = {
    id: `${span.traceId}-${span.spanId}`,
    startedAtUs: root.startUs,
    dims: {
      endpoint: endpointOf(root, { entry, rules }),
      vantage: around.vantage,
      environment: firstText(
        [own, span],
        'deployment.environment.name',
        'deployment.environment',
        'langfuse.environment',
      ),
      version: firstText([own, span], 'service.version', 'langfuse.release'),
      clientRegion: clientRegionOf(root, { entry, vantage: around.vantage }),
      serviceRegion: firstText([span, own], 'isochrone.service_region') ?? serviceRegionOf(root, entry, around),
      provider: main?.call.provider ?? null,
      model: main?.call.model ?? null,
      modelRegion: main?.call.modelRegion ?? null,
    },
    outcome: outcomeOf(root),
    ...{ e2eUs, ttftUs: ttft.us, terms, evidence, decodeUs },
    serviceUs: entry === null || entry === root ? null : Math.min(e2eUs, entry.endUs - entry.startUs),
    connection: around.vantage === 'service' ? null : connectionKindOf(root),
    ...{ roundTrips: null, rttUs: null, calls: calls.map((record) => record.call) },
    inputTokens: sumOf(models.map((record) => record.call.inputTokens)),
    outputTokens: sumOf(models.map((record) => record.call.outputTokens)),
    cachedInputTokens: sumOf(models.map((record) => record.cachedTokens)),
    ...{ inFlight: null, cache: null, quality: null, weight: weightOf(span), traceId: span.traceId },
    sessionId: firstText(
      [span, own],
      'isochrone.session_id',
      'session.id',
      'gen_ai.conversation.id',
      'langfuse.session.id',
    ),
    attributes: null,
  };
  return {
    request,
    rootSpanId: span.spanId,
    steps: models.filter((record) => record.onPath).length,
    notes: notesOf(analysis),
    skewUs: Object.fromEntries(analysis.placement.aheadUs),
  };
}

function serviceRegionOf(root: Node, entry: Node | null, { vantage }: Surroundings): string | null {
  if (entry !== null) return regionOf(entry.span!);
  return vantage === 'service' ? regionOf(root.span!) : null;
}

function firstText(spans: readonly Span[], ...names: string[]): string | null {
  for (const span of spans) {
    const text = textOf(span.attributes, ...names) ?? textOf(span.resource, ...names);
    if (text !== null) return text.slice(0, 200);
  }
  return null;
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** The terms of a path. Their sum never exceeds the time until the first output: the path is a partition of it. */
function termsOf({ root, waitPath, around, ttft, placement }: TraceAnalysis) {
  const us = new Map<Term, number>();
  const derived = new Set<Term>();
  for (const term of zeroTerms(around)) us.set(term, 0);
  for (const time of waitPath) {
    us.set(time.term, (us.get(time.term) ?? 0) + time.endUs - time.startUs);
    if (time.derived) derived.add(time.term);
  }
  if (placement.queueUnknown && us.get('queue') === 0) us.delete('queue');
  const evidenceOf = (term: MeasuredTerm): Evidence =>
    !us.has(term) ? 'missing' : derived.has(term) ? 'derived' : 'measured';
  return {
    terms: MEASURED_TERMS.map((term) => us.get(term) ?? null),
    evidence: packEvidence(MEASURED_TERMS.map(evidenceOf)),
    decodeUs: ttft.us === null ? (us.get('decode') ?? null) : root.endUs - root.startUs - ttft.us,
  };
}

function notesOf({ ttft, placement, orphans }: TraceAnalysis): TraceNote[] {
  const notes: TraceNote[] = ttft.note === null ? [] : [ttft.note];
  if ([...placement.aheadUs.values()].some((us) => Math.abs(us) > SLACK_US)) notes.push('skewed');
  if (orphans > 0) notes.push('orphans');
  if (placement.queueUnknown) notes.push('queueUnknown');
  return notes;
}
