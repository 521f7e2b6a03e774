import { breakdown, gapUs, isCensored, type TimedRequest, unattributedUs, waitUs } from '../core/request';
import type { Basis, CacheKind, ConnectionKind, Outcome, Term, Vantage } from '../core/terms';

/** One request as it is shown and exported: durations in ms, null where nothing measured it. */
export type RequestLine = {
  id: string;
  /** RFC 3339. */
  startedAt: string;
  endpoint: string;
  vantage: Vantage;
  environment: string | null;
  version: string | null;
  clientRegion: string | null;
  serviceRegion: string | null;
  provider: string | null;
  model: string | null;
  modelRegion: string | null;
  outcome: Outcome;
  e2eMs: number;
  ttftMs: number | null;
  /** What the user waited, by the endpoint's class; null when this request tells nothing about it. */
  waitMs: number | null;
  /** The wait is only a lower bound: it ended before the user had what they waited for. */
  censored: boolean;
  gapMs: number | null;
  /** All of them add up to e2e; all but decode to the time until the first output. */
  terms: Record<Term, number | null>;
  connection: ConnectionKind | null;
  roundTrips: number | null;
  rttMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  inFlight: number | null;
  cache: CacheKind | null;
  quality: number | null;
  weight: number;
  calls: number;
  traceId: string | null;
  sessionId: string | null;
  attributes: Readonly<Record<string, string>> | null;
};

const ms = (us: number | null) => (us === null ? null : us / 1000);

/** A stored request → the line. `callCount` when the calls themselves were not read. */
export function toLine(request: Omit<TimedRequest, 'calls'>, basis: Basis, callCount: number): RequestLine {
  const parts = breakdown(request, 'e2e');
  parts.unattributed = Math.max(0, unattributedUs(request));
  const { dims, outcome, connection, roundTrips, inputTokens, outputTokens, cachedInputTokens, inFlight } = request;
  const { cache, quality, weight, traceId, sessionId, attributes } = request;
  return {
    id: request.id,
    startedAt: new Date(request.startedAtUs / 1000).toISOString(),
    ...dims,
    ...{ outcome, e2eMs: request.e2eUs / 1000, ttftMs: ms(request.ttftUs) },
    ...{ waitMs: ms(waitUs(request, basis)), censored: isCensored(request, basis), gapMs: ms(gapUs(request, basis)) },
    terms: Object.fromEntries(Object.entries(parts).map(([term, us]) => [term, ms(us)])) as RequestLine['terms'],
    ...{ connection, roundTrips, rttMs: ms(request.rttUs), inputTokens, outputTokens, cachedInputTokens, inFlight },
    ...{ cache, quality, weight, calls: callCount, traceId, sessionId, attributes },
  };
}
