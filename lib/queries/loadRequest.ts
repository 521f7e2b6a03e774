import type { EndpointClass } from '../core/endpointClass';
import type { Quantiles } from '../core/estimate';
import { toQuantiles } from '../core/quantile';
import { shareFaster } from '../core/rank';
import { evidenceOf, queueKindOf, type TimedRequest, waitUs } from '../core/request';
import { type Basis, type Evidence, type QueueKind, TERMS, type Term } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { readRequestById } from '../db/readRequests';
import { withSnapshot } from '../db/snapshot';
import { AnswerError } from '../platform/errors';
import { classesFor, withinBudget } from './loadRequests';
import { basisOf, durationOf } from './population';
import { type RequestLine, toLine } from './requestLine';
import { type Metric, parseScope, type Scope } from './scope';

/** One model or tool call inside the request. Durations in ms. */
export type CallLine = {
  stage: string;
  provider: string | null;
  model: string | null;
  modelRegion: string | null;
  /** From the start of the request; null: not told, then calls are taken one after the other. */
  startOffsetMs: number | null;
  durationMs: number;
  ttftMs: number | null;
  hopMs: number | null;
  providerQueueMs: number | null;
  modelMs: number | null;
  attempts: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
};

/** Where the request's wait stands among those of the same endpoint, client region and vantage. */
export type RequestRank = {
  /** Share of them that waited less; exact to 0.55 % of the duration. */
  shareFaster: number;
  wait: Quantiles;
  /** The week it was compared with, snapped outward to hours. */
  effectiveFrom: string;
  effectiveTo: string;
};

export type RequestDetail = {
  request: RequestLine;
  endpointClass: EndpointClass;
  basis: Basis;
  evidence: Record<Term, Evidence>;
  /** What it waited for in its queue; null: not told. */
  queueKind: QueueKind | null;
  callLines: CallLine[];
  serviceMs: number | null;
  /** Null when the request has no wait (errors), or nothing is kept to compare it with. */
  rank: RequestRank | null;
};

const HALF_WEEK_US = 3.5 * 86_400e6;
const ms = (us: number | null) => (us === null ? null : us / 1000);

/** Why was this one slow? `startedAt` (RFC 3339) makes the look-up quick. Throws 404. */
export async function loadRequest(question: {
  viewer: Viewer;
  input: { id: string; startedAtUs: number | null; metric: Metric };
}): Promise<RequestDetail> {
  const { viewer, input } = question;
  const request = await withinBudget('Give startedAt.', () =>
    readRequestById(viewer.projectId, { id: input.id, aroundUs: input.startedAtUs }),
  );
  if (request === null) {
    const hint = 'Single requests are kept for 37 days; check the id, and startedAt if it was given.';
    throw new AnswerError({ status: 404, code: 'not_found', message: 'There is no such request.', hint });
  }
  const scope = surroundings(request);
  const endpointClass = (await classesFor(viewer, scope, [request]))(request.dims.endpoint);
  const basis = basisOf(input.metric, endpointClass);
  return {
    request: toLine(request, basis, request.calls.length),
    ...{ endpointClass, basis, serviceMs: ms(request.serviceUs), queueKind: queueKindOf(request) },
    evidence: Object.fromEntries(TERMS.map((term) => [term, knownBy(request, term)])) as RequestDetail['evidence'],
    callLines: request.calls.map((call) => ({
      ...{ stage: call.stage, provider: call.provider, model: call.model, modelRegion: call.modelRegion },
      ...{ startOffsetMs: ms(call.startOffsetUs), durationMs: call.durationUs / 1000, ttftMs: ms(call.ttftUs) },
      ...{ hopMs: ms(call.hopUs), providerQueueMs: ms(call.providerQueueUs), modelMs: ms(call.modelUs) },
      ...{ attempts: call.attempts, inputTokens: call.inputTokens, outputTokens: call.outputTokens },
    })),
    rank: await rankOf(viewer, { request, basis, scope }),
  };
}

function knownBy(request: TimedRequest, term: Term): Evidence {
  if (term === 'decode') return request.decodeUs === null ? 'missing' : 'derived';
  return evidenceOf(request, term);
}

/** The week around a request, in its endpoint, client region and vantage. */
function surroundings({ startedAtUs, dims }: TimedRequest): Scope {
  const range = { from: startedAtUs - HALF_WEEK_US, to: startedAtUs + HALF_WEEK_US };
  const params = new URLSearchParams({ endpoint: dims.endpoint, vantage: dims.vantage });
  for (const [name, us] of Object.entries(range)) params.set(name, new Date(us / 1000).toISOString());
  return parseScope(params);
}

async function rankOf(
  viewer: Viewer,
  { request, basis, scope }: { request: TimedRequest; basis: Basis; scope: Scope },
): Promise<RequestRank | null> {
  const wait = waitUs(request, basis);
  if (wait === null) return null;
  const { endpoint, clientRegion, vantage } = request.dims;
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const answer = await snapshot.read({
      ...{ fromUs: scope.fromUs, toUs: scope.toUs, finest: 'hour', grouping: 'endpointClientRegion' },
      ...{ families: [basis], leading: [{ endpoint, clientRegion }] },
      keep: (key) => key.vantage === vantage && !key.cached && key.outcome !== 'error',
    });
    const waits = durationOf(answer.periods.get(0) ?? [], 'wait', () => basis);
    const share = shareFaster(waits, wait);
    if (share === null) return null;
    return {
      shareFaster: share,
      wait: toQuantiles(waits),
      effectiveFrom: new Date(answer.effectiveFromUs / 1000).toISOString(),
      effectiveTo: new Date(answer.effectiveToUs / 1000).toISOString(),
    };
  });
}
