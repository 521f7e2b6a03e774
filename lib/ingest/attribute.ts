// Event → TimedRequest: where the time of this request went.
//
// The budget of the terms is ttft, or without it e2e − decode. Whatever a client sends, the stored terms are never
// negative and never exceed their budget, so that `unattributed` closes the sum exactly:
//   Σ ≤ budget                      kept
//   generation inside `model`       model cut to the budget (derived)
//   within 2 ms + 2 % above         cut: derived terms first, then application, then the largest; counted
//   beyond                          terms dropped; e2e and ttft kept; counted

import { type TimedRequest, withQueueKind } from '../core/request';
import { EVIDENCES, MEASURED_TERMS, type Vantage } from '../core/terms';
import type { EventCall, EventTerms, IngestEvent } from './contract';
import { timesOfCalls } from './criticalPath';
import { dimensionsOf, type InternTable } from './intern';

export type AttributeNote = 'inconsistent' | 'noStreamObserved';
export type Attributed = { request: TimedRequest; notes: AttributeNote[] };

const CONNECTION = MEASURED_TERMS.indexOf('connection');
const NETWORK = MEASURED_TERMS.indexOf('network');
const QUEUE = MEASURED_TERMS.indexOf('queue');
const MODEL_HOP = MEASURED_TERMS.indexOf('modelHop');
const MODEL = MEASURED_TERMS.indexOf('model');
const APPLICATION = MEASURED_TERMS.indexOf('application');
const [MISSING, MEASURED, DERIVED] = (['missing', 'measured', 'derived'] as const).map((e) => EVIDENCES.indexOf(e)) as [
  number,
  number,
  number,
];

/** Terms (µs) and how each is known (index in EVIDENCES), in the order of MEASURED_TERMS. */
type Terms = { us: (number | null)[]; evidence: number[] };

const FIELDS: readonly (keyof EventTerms)[] = MEASURED_TERMS.map((term) => `${term}Ms` as const);

const us = (ms: number) => Math.round(ms * 1_000);
const usOrNull = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : us(ms));
const toleranceUs = (limitUs: number) => 2_000 + Math.floor(limitUs / 50);

export type AttributeOptions = {
  /** µs since the epoch. */
  startedAtUs: number;
  defaultVantage: Vantage;
  /** Shares one object among equal dimensions, and among equal attributes. */
  intern?: InternTable;
};

/** The stored form of a valid event, and what about it is to be counted. */
export function attribute(event: IngestEvent, at: AttributeOptions): Attributed {
  const notes: AttributeNote[] = [];
  const e2eUs = us(event.e2eMs);
  let ttftUs = usOrNull(event.ttftMs);
  if (ttftUs !== null && ttftUs >= e2eUs) {
    ttftUs = null;
    note(notes, 'noStreamObserved');
  }
  let decodeUs = ttftUs === null ? usOrNull(event.decodeMs) : e2eUs - ttftUs;
  if (decodeUs !== null && decodeUs > e2eUs) {
    decodeUs = null;
    note(notes, 'inconsistent');
  }
  const terms = knownTerms(event, notes);
  const budgetUs = ttftUs ?? e2eUs - (decodeUs ?? 0);
  if (!fitTerms(terms, { budgetUs, e2eUs })) note(notes, 'inconsistent');
  const vantage = event.vantage ?? at.defaultVantage;
  const request: TimedRequest = {
    id: event.id,
    startedAtUs: at.startedAtUs,
    dims: at.intern === undefined ? dimensionsOf(event, vantage) : at.intern.dimensions(event, vantage),
    outcome: event.outcome ?? 'ok',
    e2eUs,
    ttftUs,
    terms: terms.us,
    // A kind without a time in the queue says nothing
    evidence: withQueueKind(packed(terms.evidence), terms.us[QUEUE] === null ? null : (event.queueKind ?? null)),
    decodeUs,
    serviceUs: usOrNull(event.serviceMs),
    connection: event.connection ?? null,
    roundTrips: event.roundTrips ?? null,
    rttUs: usOrNull(event.rttMs),
    calls: event.calls ? event.calls.map(storedCall) : [],
    inputTokens: event.inputTokens ?? null,
    outputTokens: event.outputTokens ?? null,
    cachedInputTokens: event.cachedInputTokens ?? null,
    inFlight: event.inFlight ?? null,
    cache: event.cache ?? null,
    quality: event.quality ?? null,
    weight: event.weight ?? 1,
    traceId: event.traceId ?? null,
    sessionId: event.sessionId ?? null,
    attributes: at.intern === undefined ? attributesOf(event) : at.intern.attributes(event.attributes),
  };
  return { request, notes };
}

function note(notes: AttributeNote[], one: AttributeNote): void {
  if (!notes.includes(one)) notes.push(one);
}

const attributesOf = ({ attributes }: IngestEvent) =>
  attributes && Object.keys(attributes).length > 0 ? attributes : null;

/** Two bits a term, as `packEvidence`, from codes. */
function packed(codes: readonly number[]): number {
  let bits = 0;
  for (let i = 0; i < codes.length; i++) bits |= codes[i]! << (2 * i);
  return bits;
}

function knownTerms(event: IngestEvent, notes: AttributeNote[]): Terms {
  const terms: Terms = { us: [], evidence: [] };
  const sent = event.terms;
  for (let i = 0; i < FIELDS.length; i++) {
    const known = sent ? usOrNull(sent[FIELDS[i]!]) : null;
    terms.us.push(known);
    terms.evidence.push(known === null ? MISSING : MEASURED);
  }
  const set = (term: number, value: number, evidence: number) => {
    terms.us[term] = value;
    terms.evidence[term] = evidence;
  };
  if (event.calls && event.calls.length > 0) {
    const calls = timesOfCalls(event);
    if (calls.modelUs !== null) set(MODEL, calls.modelUs, calls.modelMeasured ? MEASURED : DERIVED);
    if (calls.hopUs !== null) set(MODEL_HOP, calls.hopUs, calls.hopMeasured ? MEASURED : DERIVED);
  }
  const serviceUs = usOrNull(event.serviceMs);
  if (terms.us[NETWORK] === null && serviceUs !== null) {
    const networkUs = us(event.e2eMs) - (terms.us[CONNECTION] ?? 0) - serviceUs;
    if (networkUs >= 0) set(NETWORK, networkUs, DERIVED);
    else note(notes, 'inconsistent');
  }
  return terms;
}

/** Makes the terms fit their budget (see the table above). False when they had to be cut or dropped. */
function fitTerms(terms: Terms, { budgetUs, e2eUs }: { budgetUs: number; e2eUs: number }): boolean {
  let sum = 0;
  for (let i = 0; i < terms.us.length; i++) sum += terms.us[i] ?? 0;
  const excess = sum - budgetUs;
  if (excess <= 0) return true;
  if (excess <= toleranceUs(budgetUs)) {
    cut(terms, excess);
    return false;
  }
  const modelUs = terms.us[MODEL] ?? 0;
  if (budgetUs < e2eUs && sum <= e2eUs + toleranceUs(e2eUs) && modelUs >= excess) {
    terms.us[MODEL] = modelUs - excess;
    terms.evidence[MODEL] = DERIVED;
    return sum <= e2eUs;
  }
  terms.us.fill(null);
  terms.evidence.fill(MISSING);
  return false;
}

function cut(terms: Terms, excessUs: number): void {
  const rank = (term: number) => (terms.evidence[term] === DERIVED ? 0 : term === APPLICATION ? 1 : 2);
  const order = [...terms.us.keys()]
    .filter((term) => terms.us[term] !== null)
    .sort((a, b) => rank(a) - rank(b) || terms.us[b]! - terms.us[a]!);
  let left = excessUs;
  for (const term of order) {
    const taken = Math.min(left, terms.us[term]!);
    if (taken === 0) continue;
    terms.us[term] = terms.us[term]! - taken;
    terms.evidence[term] = DERIVED;
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
