// What the recorder of a capture knew of each request, read from its expected.json in whichever form that has it.
import type { Span } from '../../lib/core/trace/span';
import { expectedOf } from './captures';

/** An attempt as the model's server saw it. */
type Served = {
  key: string;
  status: number;
  model: string;
  stream: boolean;
  arrivedUnixMs: number;
  endUnixMs: number;
  serverTotalMs: number;
  outputTokens?: number;
  traceparent?: string;
};
/** A request as the program that made it saw it. */
type Observed = {
  key: string;
  startMs: number;
  e2eMs: number;
  ttftMs?: number;
  ok?: boolean;
  status?: unknown;
  error?: string;
};
type Timed = { key: string; traceId: string; e2eMs: number; trueStartUnixNano?: string; stamps?: { startMs: number } };
type Recorded = {
  requests: number | { total: number };
  model?: string;
  clientObserved?: Observed[][];
  perRequest?: (Served | Timed)[];
};

export type ExpectedRequest = {
  key: string;
  startMs: number;
  e2eMs: number;
  /** Null when nobody streamed. */
  ttftMs: number | null;
  outcome: 'ok' | 'error' | 'cancelled';
  /** Attempts at the model's server, the last one last; none where the model was not in the recording. */
  served: Served[];
  /** By which its spans are found, where the recorder knew it; else by time. */
  traceId: string | null;
};

/** Every request of a capture of which any span was sent. */
export function expectedRequests(name: string, spans: readonly Span[]): ExpectedRequest[] {
  const { requests, perRequest = [], clientObserved = [], model } = expectedOf<Recorded>(name);
  if (typeof requests === 'object' && requests.total === 0) return [];
  const timed = perRequest.filter((one): one is Timed => 'traceId' in one);
  if (timed.length > 0) return timed.map((one) => timedRequest(one, model ?? null));
  const served = perRequest.filter((one): one is Served => 'arrivedUnixMs' in one);
  return clientObserved
    .flat()
    .flatMap((seen) =>
      ofClient(
        seen,
        served.filter((one) => one.key === seen.key),
      ),
    )
    .filter((one) => spans.some((span) => coversMs(span, one) > one.e2eMs / 2));
}

/** How much of a request a span lies over; ms. */
const coversMs = (span: Span, { startMs, e2eMs }: ExpectedRequest) =>
  Math.min(span.endUs / 1_000, startMs + e2eMs) - Math.max(span.startUs / 1_000, startMs);

function timedRequest(one: Timed, model: string | null): ExpectedRequest {
  const startMs = one.stamps?.startMs ?? Number(BigInt(one.trueStartUnixNano ?? 0) / 1_000n) / 1_000;
  const { key, e2eMs, traceId } = one;
  return { key, startMs, e2eMs, traceId, ttftMs: null, outcome: 'ok', served: servedBy(model) };
}

const servedBy = (model: string | null): Served[] =>
  model === null
    ? []
    : [{ ...{ key: '', status: 200, model, stream: false }, ...{ arrivedUnixMs: 0, endUnixMs: 0, serverTotalMs: 0 } }];

/** One request of a client: several where its attempts share no trace, because nothing was around them. */
function ofClient(seen: Observed, served: Served[]): ExpectedRequest[] {
  const traceIds = new Set(served.map((one) => one.traceparent?.split('-')[1] ?? null));
  if (traceIds.size > 1)
    return served.map((one) => ({
      ...{ key: one.key, startMs: one.arrivedUnixMs, e2eMs: one.serverTotalMs, ttftMs: null, served: [one] },
      ...{ outcome: one.status === 200 ? ('ok' as const) : ('error' as const), traceId: traceOf(one) },
    }));
  const isFine = seen.ok !== false && typeof seen.status !== 'number';
  const outcome = /abort/i.test(seen.error ?? '') ? 'cancelled' : isFine ? 'ok' : 'error';
  const { key, startMs, e2eMs, ttftMs = null } = seen;
  return [{ key, startMs, e2eMs, ttftMs, outcome, served, traceId: served[0] ? traceOf(served[0]) : null }];
}

const traceOf = (one: Served) => one.traceparent?.split('-')[1] ?? null;
