// The closed list of places where a request's time goes, and of what one can do about it.
// Durations are integer microseconds; `null` means that nothing measured it, which is never the same as 0.

/** Terms a client or a trace can tell us. The order is the storage order of every term vector: append only. */
export const MEASURED_TERMS = [
  'connection',
  'network',
  'backbone',
  'queue',
  'routing',
  'coldStart',
  'retry',
  'modelHop',
  'model',
  'application',
] as const;
export type MeasuredTerm = (typeof MEASURED_TERMS)[number];

/** All terms: the measured ones, the remainder, and generation after the first output. They add up to e2e. */
export const TERMS = [...MEASURED_TERMS, 'unattributed', 'decode'] as const;
export type Term = (typeof TERMS)[number];

/** What one can do about latency. Gains, floors and the headline speak of levers, not of terms. */
export const LEVERS = [
  'geography',
  'connection',
  'queue',
  'routing',
  'coldStart',
  'retry',
  'modelHop',
  'model',
  'application',
] as const;
export type Lever = (typeof LEVERS)[number];

/** How a term is known. The index is the stored 2-bit code. */
export const EVIDENCES = ['missing', 'measured', 'derived', 'assumed'] as const;
export type Evidence = (typeof EVIDENCES)[number];

/** One value a measured term, in the order of MEASURED_TERMS. */
export type TermVector = readonly (number | null)[];

/** Which duration the wait is: to the complete response, or to the first output the user sees or hears. */
export type Basis = 'e2e' | 'ttft';

export const OUTCOMES = ['ok', 'error', 'timeout', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const VANTAGES = ['client', 'service', 'probe'] as const;
export type Vantage = (typeof VANTAGES)[number];

export const CONNECTIONS = ['first', 'new', 'reused'] as const;
export type ConnectionKind = (typeof CONNECTIONS)[number];

export const CACHES = ['none', 'response', 'semantic', 'prefix'] as const;
export type CacheKind = (typeof CACHES)[number];

/** What a queue holds a request for: a broker's backlog, no free capacity, or a delay that was asked for. */
export const QUEUE_KINDS = ['broker', 'capacity', 'scheduled'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

/** The name a person reads for each term. */
export const TERM_LABELS: Record<Term, string> = {
  connection: 'Connection set-up',
  network: 'Geography',
  backbone: 'Between your regions',
  queue: 'Queue and broker',
  routing: 'Internal routing',
  coldStart: 'Cold start',
  retry: 'Retries',
  modelHop: 'Model API hop',
  model: 'Model',
  application: 'Application',
  unattributed: 'Unattributed',
  decode: 'Generation',
};

export const LEVER_LABELS: Record<Lever, string> = {
  geography: 'Geography',
  connection: 'Connection set-up',
  queue: 'Queue and broker',
  routing: 'Internal routing',
  coldStart: 'Cold starts',
  retry: 'Retries',
  modelHop: 'Model API hop',
  model: 'Model',
  application: 'Application',
};
