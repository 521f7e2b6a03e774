// TimedRequest: one inference request as someone felt it, and how its time divides.
//
//   |-- connection · network · … · model · application · unattributed --|-- decode --|
//   0                                                                 ttft          e2e
//
// Ten measured terms and `unattributed` add up to the time until the first output; `decode` is the rest, up to e2e.
// Without a first output (not streamed) the same terms, with `decode` if it is known, add up to e2e.

import type { Stratum } from './strata';
import {
  type Basis,
  type CacheKind,
  type ConnectionKind,
  EVIDENCES,
  type Evidence,
  MEASURED_TERMS,
  type Outcome,
  QUEUE_KINDS,
  type QueueKind,
  TERMS,
  type Term,
  type TermVector,
  type Vantage,
} from './terms';

/** What a request is counted under. Null is "not told", and a value of its own. */
export type Dimensions = {
  endpoint: string;
  vantage: Vantage;
  environment: string | null;
  version: string | null;
  clientRegion: string | null;
  serviceRegion: string | null;
  provider: string | null;
  model: string | null;
  modelRegion: string | null;
};

/** A model or tool call inside a request. Durations in µs. */
export type Call = {
  stage: string;
  provider: string | null;
  model: string | null;
  modelRegion: string | null;
  startOffsetUs: number | null;
  durationUs: number;
  ttftUs: number | null;
  hopUs: number | null;
  providerQueueUs: number | null;
  modelUs: number | null;
  attempts: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
};

/** Everything stored of a request. `startedAtUs` is µs since the epoch; durations are integer µs. */
export type TimedRequest = {
  id: string;
  startedAtUs: number;
  dims: Dimensions;
  outcome: Outcome;
  e2eUs: number;
  ttftUs: number | null;
  terms: TermVector;
  /** Two bits a measured term, the code of EVIDENCES, the first term lowest; above them two for the queue's kind. */
  evidence: number;
  /** After the first output. Exactly e2e − ttft when ttft is known. */
  decodeUs: number | null;
  serviceUs: number | null;
  connection: ConnectionKind | null;
  roundTrips: number | null;
  rttUs: number | null;
  calls: readonly Call[];
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  inFlight: number | null;
  cache: CacheKind | null;
  quality: number | null;
  /** How many requests this one stands for; an integer ≥ 1 as stored. */
  weight: number;
  traceId: string | null;
  sessionId: string | null;
  attributes: Readonly<Record<string, string>> | null;
};

/** What the sample tier keeps of a request: all that floors, levers, stages and filters need at read time. */
export type SampledRequest = Pick<
  TimedRequest,
  | 'id'
  | 'startedAtUs'
  | 'dims'
  | 'outcome'
  | 'e2eUs'
  | 'ttftUs'
  | 'terms'
  | 'evidence'
  | 'decodeUs'
  | 'connection'
  | 'roundTrips'
  | 'rttUs'
  | 'calls'
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedInputTokens'
  | 'inFlight'
  | 'cache'
  | 'traceId'
> & {
  /** Stands for this many requests: its own weight × (its bucket's weight ÷ the weight kept there). Not an integer. */
  weight: number;
  /** The bucket of a sample that this row stands for with others; absent when every request was kept. */
  stratum?: Stratum;
};

type Durations = Pick<TimedRequest, 'e2eUs' | 'ttftUs' | 'outcome'>;
type Parts = Durations & Pick<TimedRequest, 'terms' | 'decodeUs'>;

/**
 * What the user waited (µs), or null when this request tells nothing about that basis.
 * - Errors never count. Timeouts count at what was observed (right-censored).
 * - e2e: a request cancelled after its first output has no e2e.
 * - ttft: an ok request without a first output has none; a timeout or a cancellation before it waited all its time.
 */
export function waitUs(request: Durations, basis: Basis): number | null {
  if (request.outcome === 'error') return null;
  if (basis === 'e2e') return request.outcome === 'cancelled' && request.ttftUs !== null ? null : request.e2eUs;
  if (request.ttftUs !== null) return request.ttftUs;
  return request.outcome === 'ok' ? null : request.e2eUs;
}

/** True when the observed wait is only a lower bound: the request ended before the user had what they waited for. */
export function isCensored(request: Durations, basis: Basis): boolean {
  if (request.outcome === 'ok' || request.outcome === 'error') return false;
  return basis === 'e2e' || request.ttftUs === null;
}

/** The remainder (µs, ≥ 0 for stored requests): time before the first output, or before e2e, that no term explains. */
export function unattributedUs(request: Parts): number {
  let rest = request.ttftUs ?? request.e2eUs - (request.decodeUs ?? 0);
  for (const us of request.terms) rest -= us ?? 0;
  return rest;
}

/** Gap (µs): wait − model, the part of the wait that is not the model. Null when either is unknown. */
export function gapUs(request: Parts, basis: Basis): number | null {
  const wait = waitUs(request, basis);
  const model = request.terms[MEASURED_TERMS.indexOf('model')] ?? null;
  return wait === null || model === null ? null : wait - model;
}

/** Term → µs for one basis: null where not measured. The known parts add up exactly to the wait of that basis. */
export function breakdown(request: Parts, basis: Basis): Record<Term, number | null> {
  const parts = {} as Record<Term, number | null>;
  MEASURED_TERMS.forEach((term, i) => {
    parts[term] = request.terms[i] ?? null;
  });
  parts.unattributed = unattributedUs(request);
  // Without a first output the wait of a time-out is all its time, also on the ttft basis
  parts.decode = basis === 'e2e' || request.ttftUs === null ? request.decodeUs : null;
  return parts;
}

/** How a term of this request is known. The remainder is always derived. */
export function evidenceOf(request: Pick<TimedRequest, 'evidence'>, term: Term): Evidence {
  const i = (MEASURED_TERMS as readonly string[]).indexOf(term);
  return i === -1 ? 'derived' : EVIDENCES[(request.evidence >> (2 * i)) & 3]!;
}

const QUEUE_KIND_SHIFT = 2 * MEASURED_TERMS.length;

/** What the request waited for in its queue; null: not told. A delay that was asked for is nobody's fault. */
export function queueKindOf(request: Pick<TimedRequest, 'evidence'>): QueueKind | null {
  return QUEUE_KINDS[((request.evidence >> QUEUE_KIND_SHIFT) & 3) - 1] ?? null;
}

/** Adds the kind of the queue to packed evidence, in the two bits above the terms'. */
export function withQueueKind(evidence: number, kind: QueueKind | null): number {
  return kind === null ? evidence : evidence | ((QUEUE_KINDS.indexOf(kind) + 1) << QUEUE_KIND_SHIFT);
}

/** Packs one evidence a measured term, in the order of MEASURED_TERMS. */
export function packEvidence(evidences: readonly Evidence[]): number {
  return evidences.reduce((bits, e, i) => bits | (EVIDENCES.indexOf(e) << (2 * i)), 0);
}

/** Index of a term in the vectors that hold all of TERMS. */
export const TERM_INDEX = Object.fromEntries(TERMS.map((t, i) => [t, i])) as Record<Term, number>;
