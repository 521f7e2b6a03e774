// Closes traces: their spans → requests, stored in the transaction that marks the traces as closed.

import type { TimedRequest } from '../../core/request';
import type { AttributedTrace, TermRule } from '../../core/trace/attributed';
import type { attributeTrace } from '../../core/trace/attributeTrace';
import { type BrokerUse, brokerUsesOf, possibleWorkers } from '../../core/trace/brokers';
import type { ReplicaStart } from '../../core/trace/replicas';
import type { Span } from '../../core/trace/span';
import {
  type AssembledTrace,
  type AssemblyTransaction,
  type Closing,
  type Lease,
  storeClosing,
  type TraceOutcome,
} from '../../db/assemblyStore';
import { addCounts } from '../../db/counts';
import { markHintsApplied, noteBrokerUses, type OpenHints, replicaStarts, workersAmong } from '../../db/hintStore';
import { addDays, utcDay } from '../../db/partitions';
import { log } from '../../platform/log';
import type { Bodies } from './bodies';
import type { DueTrace, OpenTraces } from './openTraces';
import { planRequests, type RequestCorrection } from './planRequests';
import { chunksOf, findSubjects, type Gathered, gatherSpans, type Subject } from './subjects';

/** What the assembly is given. */
export type AssemblyServices = {
  attribute: typeof attributeTrace;
  /** Corrects stored requests and what counts them, within a transaction. */
  correct: (
    transaction: AssemblyTransaction,
    projectId: string,
    corrections: readonly RequestCorrection[],
  ) => Promise<unknown>;
};

export type ClosingContext = {
  lease: Lease;
  rules: readonly TermRule[];
  bodies: Bodies;
  services: AssemblyServices;
  /** Uses of brokers that are noted already (JSON). */
  knownUses: Set<string>;
  /** Hints that traces are closed again for; `isLast`: they are applied with this closing. */
  hints?: Pick<OpenHints, 'starts' | 'uses'> & { isLast: boolean };
};

type Counts = Record<string, number>;
const NOTHING: AttributedTrace = { requests: [], ignored: [] };
type Plan = {
  fresh: Closing['fresh'][number][];
  again: AssembledTrace[];
  requests: TimedRequest[];
  corrections: RequestCorrection[];
  counts: Counts;
};

const FUTURE_US = 5 * 60_000_000;
/** How far the clock of a replica may be off for its start to be found; µs. */
const CLOCKS_APART_US = 10 * 60_000_000;
const OLD_US = 35 * 86_400_000_000;

/** Closes these traces; false, with nothing changed, when the lease is lost. */
export async function closeTraces(
  open: OpenTraces,
  due: readonly DueTrace[],
  context: ClosingContext,
): Promise<boolean> {
  const { projectId } = context.lease;
  const subjects = await findSubjects(projectId, due);
  const stored = await context.bodies.load(projectId, subjects.flatMap(chunksOf));
  const gathered = subjects.map((subject) => gatherSpans(subject, stored));
  const hints = await hintsFor(context, gathered);
  const plan: Plan = { fresh: [], again: [], requests: [], corrections: [], counts: {} };
  for (const [i, subject] of subjects.entries()) {
    const some = gathered[i] ?? null;
    if (some === null) count(plan.counts, 'lateSpansDropped', subject.parts.length);
    else planSubject(plan, { subject, gathered: some, context: { ...context, ...hints } });
  }
  const { fresh, again, requests, corrections, counts } = plan;
  const closing: Closing = { fresh, again, requests, done: open.doneBy(due) };
  const applied = context.hints?.isLast ? context.hints : null;
  if (corrections.length > 0 || applied !== null) {
    closing.alongside = async (transaction) => {
      if (corrections.length > 0) await context.services.correct(transaction, projectId, corrections);
      if (applied !== null) await markHintsApplied(transaction, projectId, applied);
    };
  }
  if (!(await storeClosing(context.lease, closing))) return false;
  open.remove(due);
  addCounts(projectId, counts, Date.now());
  return true;
}

type Hints = { starts: readonly ReplicaStart[]; workers: ReadonlySet<string> };

/** What traces tell of one another: these of others, which is noted, and others of these. */
async function hintsFor(
  { lease: { projectId }, knownUses }: ClosingContext,
  gathered: readonly (Gathered | null)[],
): Promise<Hints> {
  const traces = gathered.flatMap((some) => (some === null || some.spans.length === 0 ? [] : [some.spans]));
  const fresh = new Map<string, BrokerUse>();
  for (const use of traces.flatMap(brokerUsesOf)) {
    const name = JSON.stringify(use);
    if (!knownUses.has(name)) fresh.set(name, use);
  }
  await noteBrokerUses(projectId, [...fresh.values()]);
  for (const name of fresh.keys()) knownUses.add(name);
  const starts = await replicaStartsAround(projectId, traces.flat());
  return { starts, workers: await workersAmong(projectId, possibleWorkers(traces.flat())) };
}

/** Starts of replicas that these traces may have waited for. */
async function replicaStartsAround(projectId: string, spans: readonly Span[]): Promise<ReplicaStart[]> {
  let [fromUs, toUs] = [Number.POSITIVE_INFINITY, 0];
  for (const { startUs, endUs } of spans) {
    fromUs = Math.min(fromUs, startUs);
    toUs = Math.max(toUs, endUs);
  }
  if (toUs === 0) return [];
  const [margin, sinceDay] = [CLOCKS_APART_US, addDays(utcDay(Date.now() * 1_000), -1)];
  return replicaStarts(projectId, { fromUs: fromUs - margin, toUs: toUs + margin, sinceDay });
}

type Attributing = ClosingContext & Hints;

function planSubject(
  plan: Plan,
  { subject, gathered, context }: { subject: Subject; gathered: Gathered; context: Attributing },
): void {
  const { before } = subject;
  const { spans, halves, earlier } = gathered;
  count(plan.counts, 'duplicateSpans', gathered.duplicates);
  count(plan.counts, 'spansOverLimit', gathered.overLimit);
  const isAgain = subject.parts.length === 0;
  if (spans.length + halves.length === earlier && !isAgain) return;
  const attributed = spans.length === 0 ? NOTHING : attributeOrNothing(spans, context);
  if (isAgain && isSame(attributed, attributeOrNothing(spans, withoutOpenHints(context)))) return;
  const accepted = acceptable(attributed, plan.counts);
  const { add, corrections, requestIds } = planRequests({
    accepted,
    halves,
    stored: storedRequests(subject, gathered),
  });
  if (spans.length === 0 && corrections.length === 0 && before === null) return; // a half that stayed alone
  plan.requests.push(...add);
  plan.corrections.push(...corrections);
  const outcome = requestIds.length > 0 ? 'requests' : outcomeOf(attributed);
  addRow(plan, before, {
    ...{ traceId: subject.traceId, reason: subject.reason, outcome, spans: spans.length },
    ...{ chunkIds: gathered.chunkIds, requestIds },
    ...{ members: [...subject.ids].filter((id) => id !== subject.traceId), joinedTo: null },
  });
  addMembers(plan, subject);
  if (isAgain) count(plan.counts, 'reattributed');
  else if (before !== null) count(plan.counts, 'lateSpans', spans.length + halves.length - earlier);
  count(plan.counts, 'correctedRequests', corrections.length);
  count(plan.counts, `trace:${outcome}`);
  count(plan.counts, `traceClosed:${subject.reason}`);
  count(plan.counts, 'accepted', add.length);
}

const isSame = (one: AttributedTrace, other: AttributedTrace) =>
  JSON.stringify(one.requests) === JSON.stringify(other.requests);

/** What was known before the hints that are applied now. */
function withoutOpenHints(context: Attributing): Attributing {
  const open = new Set(context.hints?.starts.map(({ replica, startUs }) => `${replica} ${startUs}`));
  const starts = context.starts.filter(({ replica, startUs }) => !open.has(`${replica} ${startUs}`));
  return { ...context, starts, workers: new Set() };
}

/** Requests that earlier closings stored of a subject → when they began (µs): their ids name the span or half. */
function storedRequests({ before, membersBefore }: Subject, { spans, halves }: Gathered): Map<string, number> {
  const ids = [before, ...membersBefore].flatMap((row) => row?.requestIds ?? []);
  if (ids.length === 0) return new Map();
  const starts = new Map<string, number>(spans.map((span) => [`${span.traceId}-${span.spanId}`, span.startUs]));
  for (const half of halves) starts.set(half.id, half.startedAtUs);
  return new Map(ids.flatMap((id): [string, number][] => (starts.has(id) ? [[id, starts.get(id)!]] : [])));
}

function addRow(plan: Plan, before: AssembledTrace | null, row: Plan['fresh'][number]): void {
  if (before === null) plan.fresh.push(row);
  else plan.again.push({ ...row, day: before.day, version: before.version + 1 });
}

/** Traces that belong to the subject's request say so, so that what comes late of them finds it. */
function addMembers(plan: Plan, { traceId, ids, membersBefore, reason }: Subject): void {
  for (const id of ids) {
    const before = membersBefore.find((row) => row.traceId === id) ?? null;
    if (id === traceId || before?.joinedTo === traceId) continue;
    addRow(plan, before, {
      ...{ traceId: id, reason, outcome: 'joined', spans: 0, chunkIds: [], requestIds: [], members: [] },
      joinedTo: traceId,
    });
  }
}

/** Attribution is total; should it fail all the same, one trace must not hold up the others. */
function attributeOrNothing(
  spans: readonly Span[],
  { services, rules, starts, workers }: Attributing,
): AttributedTrace {
  try {
    return services.attribute({ spans, rules, replicaStarts: starts, workers });
  } catch (error) {
    log().error({ err: error, traceId: spans[0]?.traceId }, 'trace not attributed');
    return NOTHING;
  }
}

/** Requests that may be stored: at times that raw takes. */
function acceptable(attributed: AttributedTrace, counts: Counts): TimedRequest[] {
  const nowUs = Date.now() * 1_000;
  return attributed.requests.flatMap(({ request }) => {
    const isFuture = request.startedAtUs > nowUs + FUTURE_US;
    if (!isFuture && request.startedAtUs >= nowUs - OLD_US) return request;
    count(counts, isFuture ? 'rejected:future' : 'rejected:too_old');
    return [];
  });
}

/** Why a trace gave no request. */
function outcomeOf(attributed: AttributedTrace): TraceOutcome {
  if (attributed.requests.length > 0 || attributed.ignored.length === 0) return 'refused';
  const reasons = new Set(attributed.ignored.map((ignored) => ignored.reason));
  return (['lost_context', 'no_request'] as const).find((reason) => reasons.has(reason)) ?? 'no_root';
}

function count(counts: Counts, kind: string, by = 1): void {
  if (by > 0) counts[kind] = (counts[kind] ?? 0) + by;
}
