// One request told by two: the client knows how long it took, the service where the time went.
//
//   client   |-- connection --|------------------- e2e -------------------|
//   service                       |---- its terms ----|
//                             network = what is left between the two, unless the client measured it

import { evidenceOf, packEvidence, queueKindOf, type TimedRequest, withQueueKind } from '../request';
import { type Evidence, MEASURED_TERMS, type MeasuredTerm } from '../terms';

/** A stored request of which another vantage may tell the rest. */
export type Half = { traceId: string; id: string; startedAtUs: number; vantage: 'client' | 'service' };

type Entry = { us: number | null; evidence: Evidence };

/** Terms that only the client's side can measure. */
const OF_CLIENT: readonly MeasuredTerm[] = ['connection', 'network'];

/** The client's request with the service's terms: ids, times and outcome are the client's. */
export function mergeHalves(client: TimedRequest, service: TimedRequest): TimedRequest {
  const entries = new Map<MeasuredTerm, Entry>();
  for (const term of MEASURED_TERMS) {
    const from = OF_CLIENT.includes(term) && known(client, term) ? client : service;
    entries.set(term, { us: termUs(from, term), evidence: evidenceOf(from, term) });
  }
  const connectionUs = entries.get('connection')!.us ?? 0;
  if (!known(client, 'network') || evidenceOf(client, 'network') === 'derived') {
    const us = client.e2eUs - connectionUs - service.e2eUs;
    entries.set('network', us >= 0 ? { us, evidence: 'derived' } : { us: null, evidence: 'missing' });
  }
  const decodeUs = client.ttftUs === null ? (service.decodeUs ?? client.decodeUs) : client.e2eUs - client.ttftUs;
  const isDecodeKnown = decodeUs !== null && decodeUs <= client.e2eUs;
  cutToBudget(entries, client.ttftUs ?? client.e2eUs - (isDecodeKnown ? decodeUs : 0));
  const either = <K extends keyof TimedRequest['dims']>(name: K) => client.dims[name] ?? service.dims[name];
  return {
    ...client,
    dims: {
      ...client.dims,
      ...{ environment: either('environment'), version: either('version'), clientRegion: either('clientRegion') },
      ...{ serviceRegion: either('serviceRegion'), provider: either('provider'), model: either('model') },
      modelRegion: either('modelRegion'),
    },
    terms: MEASURED_TERMS.map((term) => entries.get(term)!.us),
    evidence: withQueueKind(
      packEvidence(MEASURED_TERMS.map((term) => entries.get(term)!.evidence)),
      entries.get('queue')!.us === null ? null : (queueKindOf(service) ?? queueKindOf(client)),
    ),
    decodeUs: isDecodeKnown ? decodeUs : null,
    serviceUs: service.e2eUs,
    calls: service.calls.length > 0 ? service.calls : client.calls,
    inputTokens: client.inputTokens ?? service.inputTokens,
    outputTokens: client.outputTokens ?? service.outputTokens,
    cachedInputTokens: client.cachedInputTokens ?? service.cachedInputTokens,
    cache: client.cache ?? service.cache,
    inFlight: client.inFlight ?? service.inFlight,
    attributes: client.attributes ?? service.attributes,
    sessionId: client.sessionId ?? service.sessionId,
  };
}

const termUs = (request: TimedRequest, term: MeasuredTerm) => request.terms[MEASURED_TERMS.indexOf(term)] ?? null;
const known = (request: TimedRequest, term: MeasuredTerm) => termUs(request, term) !== null;

/** Two clocks measured the two sides: what is too much is taken from the model, then from the largest terms. */
function cutToBudget(entries: Map<MeasuredTerm, Entry>, budgetUs: number): void {
  let excess = [...entries.values()].reduce((sum, entry) => sum + (entry.us ?? 0), 0) - budgetUs;
  const order = [...entries].sort(([a, x], [b, y]) => rank(a) - rank(b) || (y.us ?? 0) - (x.us ?? 0));
  for (const [term, { us }] of order) {
    if (excess <= 0) return;
    if (us === null || us === 0) continue;
    const taken = Math.min(us, excess);
    entries.set(term, { us: us - taken, evidence: 'derived' });
    excess -= taken;
  }
}

const rank = (term: MeasuredTerm) => (term === 'model' ? 0 : 1);
