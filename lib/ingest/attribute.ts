// Event → TimedRequest: where the time of this request went.
//
// The budget of the terms is ttft, or without it e2e − decode. Whatever a client sends, the stored terms are never
// negative and never exceed their budget, so that `unattributed` closes the sum exactly:
//   Σ ≤ budget                      kept
//   generation inside `model`       model cut to the budget (derived)
//   within 2 ms + 2 % above         cut: derived terms first, then application, then the largest; counted
//   beyond                          terms dropped; e2e and ttft kept; counted

import { packEvidence, type TimedRequest } from '../core/request';
import { type Evidence, MEASURED_TERMS, type MeasuredTerm, type Vantage } from '../core/terms';
import type { EventCall, EventTerms, IngestEvent } from './contract';
import { timesOfCalls } from './criticalPath';

export type AttributeNote = 'inconsistent' | 'noStreamObserved';
export type Attributed = { request: TimedRequest; notes: AttributeNote[] };

type Entry = { us: number | null; evidence: Evidence };
type Terms = Record<MeasuredTerm, Entry>;

const FIELD_OF: Record<MeasuredTerm, keyof EventTerms> = {
  connection: 'connectionMs',
  network: 'networkMs',
  backbone: 'backboneMs',
  queue: 'queueMs',
  routing: 'routingMs',
  coldStart: 'coldStartMs',
  retry: 'retryMs',
  modelHop: 'modelHopMs',
  model: 'modelMs',
  application: 'applicationMs',
};

const us = (ms: number) => Math.round(ms * 1_000);
const usOrNull = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : us(ms));
const toleranceUs = (limitUs: number) => 2_000 + Math.floor(limitUs / 50);

/** The stored form of a valid event, and what about it is to be counted. `startedAtUs`: µs since the epoch. */
export function attribute(event: IngestEvent, at: { startedAtUs: number; defaultVantage: Vantage }): Attributed {
  const notes = new Set<AttributeNote>();
  const e2eUs = us(event.e2eMs);
  let ttftUs = usOrNull(event.ttftMs);
  if (ttftUs !== null && ttftUs >= e2eUs) {
    ttftUs = null;
    notes.add('noStreamObserved');
  }
  let decodeUs = ttftUs === null ? usOrNull(event.decodeMs) : e2eUs - ttftUs;
  if (decodeUs !== null && decodeUs > e2eUs) {
    decodeUs = null;
    notes.add('inconsistent');
  }
  const terms = knownTerms(event, notes);
  const budgetUs = ttftUs ?? e2eUs - (decodeUs ?? 0);
  if (!fitTerms(terms, { budgetUs, e2eUs })) notes.add('inconsistent');
  const request: TimedRequest = {
    id: event.id,
    startedAtUs: at.startedAtUs,
    dims: {
      endpoint: event.endpoint,
      vantage: event.vantage ?? at.defaultVantage,
      environment: event.environment ?? null,
      version: event.version ?? null,
      clientRegion: event.clientRegion ?? null,
      serviceRegion: event.serviceRegion ?? null,
      provider: event.provider ?? null,
      model: event.model ?? null,
      modelRegion: event.modelRegion ?? null,
    },
    outcome: event.outcome ?? 'ok',
    e2eUs,
    ttftUs,
    terms: MEASURED_TERMS.map((term) => terms[term].us),
    evidence: packEvidence(MEASURED_TERMS.map((term) => terms[term].evidence)),
    decodeUs,
    serviceUs: usOrNull(event.serviceMs),
    connection: event.connection ?? null,
    roundTrips: event.roundTrips ?? null,
    rttUs: usOrNull(event.rttMs),
    calls: (event.calls ?? []).map(storedCall),
    inputTokens: event.inputTokens ?? null,
    outputTokens: event.outputTokens ?? null,
    cachedInputTokens: event.cachedInputTokens ?? null,
    inFlight: event.inFlight ?? null,
    cache: event.cache ?? null,
    quality: event.quality ?? null,
    weight: event.weight ?? 1,
    traceId: event.traceId ?? null,
    sessionId: event.sessionId ?? null,
    attributes: event.attributes && Object.keys(event.attributes).length > 0 ? event.attributes : null,
  };
  return { request, notes: [...notes] };
}

function knownTerms(event: IngestEvent, notes: Set<AttributeNote>): Terms {
  const terms = {} as Terms;
  for (const term of MEASURED_TERMS) {
    const known = usOrNull(event.terms?.[FIELD_OF[term]]);
    terms[term] = { us: known, evidence: known === null ? 'missing' : 'measured' };
  }
  const calls = timesOfCalls(event);
  if (calls.modelUs !== null) {
    terms.model = { us: calls.modelUs, evidence: calls.modelMeasured ? 'measured' : 'derived' };
  }
  if (calls.hopUs !== null) {
    terms.modelHop = { us: calls.hopUs, evidence: calls.hopMeasured ? 'measured' : 'derived' };
  }
  const serviceUs = usOrNull(event.serviceMs);
  if (terms.network.us === null && serviceUs !== null) {
    const networkUs = us(event.e2eMs) - (terms.connection.us ?? 0) - serviceUs;
    if (networkUs >= 0) terms.network = { us: networkUs, evidence: 'derived' };
    else notes.add('inconsistent');
  }
  return terms;
}

/** Makes the terms fit their budget (see the table above). False when they had to be cut or dropped. */
function fitTerms(terms: Terms, { budgetUs, e2eUs }: { budgetUs: number; e2eUs: number }): boolean {
  const sum = MEASURED_TERMS.reduce((total, term) => total + (terms[term].us ?? 0), 0);
  const excess = sum - budgetUs;
  if (excess <= 0) return true;
  if (excess <= toleranceUs(budgetUs)) {
    cut(terms, excess);
    return false;
  }
  const modelUs = terms.model.us ?? 0;
  if (budgetUs < e2eUs && sum <= e2eUs + toleranceUs(e2eUs) && modelUs >= excess) {
    terms.model = { us: modelUs - excess, evidence: 'derived' };
    return sum <= e2eUs;
  }
  for (const term of MEASURED_TERMS) terms[term] = { us: null, evidence: 'missing' };
  return false;
}

function cut(terms: Terms, excessUs: number): void {
  const rank = (term: MeasuredTerm) => (terms[term].evidence === 'derived' ? 0 : term === 'application' ? 1 : 2);
  const order = MEASURED_TERMS.filter((term) => terms[term].us !== null).sort(
    (a, b) => rank(a) - rank(b) || terms[b].us! - terms[a].us!,
  );
  let left = excessUs;
  for (const term of order) {
    const taken = Math.min(left, terms[term].us!);
    if (taken === 0) continue;
    terms[term] = { us: terms[term].us! - taken, evidence: 'derived' };
    left -= taken;
  }
}

function storedCall(call: EventCall): TimedRequest['calls'][number] {
  return {
    stage: call.stage,
    provider: call.provider ?? null,
    model: call.model ?? null,
    modelRegion: call.modelRegion ?? null,
    startOffsetUs: usOrNull(call.startOffsetMs),
    durationUs: us(call.durationMs),
    ttftUs: usOrNull(call.ttftMs),
    hopUs: usOrNull(call.hopMs),
    providerQueueUs: usOrNull(call.providerQueueMs),
    modelUs: usOrNull(call.modelMs),
    attempts: call.attempts ?? null,
    inputTokens: call.inputTokens ?? null,
    outputTokens: call.outputTokens ?? null,
  };
}
