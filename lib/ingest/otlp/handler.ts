// OTLP over HTTP. Order: key → body → spans → store → answer.
//
//   any 2xx          an exporter forgets the batch
//   429, 503         it sends again after Retry-After, which must be short: one longer than its time left drops the batch
//   everything else  it drops the batch
//   no answer, 10 s  it drops the batch

import type { IncomingMessage, ServerResponse } from 'node:http';
import { addCounts, noteKey } from '../../db/counts';
import { recentTermRules } from '../../db/termRules';
import { AnswerError, isAnswerError } from '../../platform/errors';
import { decodeText, receiveBody } from '../receive';
import { type Encoding, encodingOf, type OtlpPath, REJECTED_FIELD, sendAnswer, sendError } from './answer';
import { appendSpans } from './appendSpans';
import { REJECT_WORDS, readSpans, type SpansRead } from './readSpans';
import { decodeProtobuf, parseJson } from './wire';

export type OtlpScope = 'ingest' | 'probe' | 'browser';
export type OtlpServices = {
  /** Throws AnswerError when no more requests are taken now. */
  admit: () => void;
  /** Throws AnswerError 429 while a key is above its rate. */
  checkRate: (keyId: string) => void;
  countRate: (keyId: string, spans: number) => void;
  /** Throws AnswerError 401 or 403. */
  authenticate: (
    headers: IncomingMessage['headers'],
    scopes: readonly OtlpScope[],
  ) => Promise<{ projectId: string; keyId: string; scope: string }>;
};

const SCOPES: readonly OtlpScope[] = ['ingest', 'probe', 'browser'];
const DEFAULT_HEADERS = 'authorization, content-type, content-encoding, x-isochrone-key, traceparent, tracestate';

export function isOtlpPath(path: string): path is OtlpPath {
  return Object.hasOwn(REJECTED_FIELD, path);
}

/** Answers a request to one of the OTLP paths. Never throws. */
export async function answerOtlp(
  request: IncomingMessage,
  response: ServerResponse,
  { path, services }: { path: OtlpPath; services: OtlpServices },
): Promise<void> {
  let encoding: Encoding = 'json';
  try {
    allowOrigin(request, response);
    if (request.method === 'OPTIONS') return answerPreflight(request, response);
    encoding = encodingOf(request);
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST, OPTIONS');
      throw new AnswerError({ status: 405, code: 'method', message: 'OTLP is posted.', hint: `Use POST ${path}.` });
    }
    services.admit();
    const key = await services.authenticate(request.headers, SCOPES).catch((error: unknown) => {
      throw isAnswerError(error) ? error : unavailable();
    });
    if (path !== '/v1/traces') {
      await discard(request);
      const what = path === '/v1/logs' ? 'Logs' : 'Metrics';
      const errorMessage = `${what} are not used here and were not stored: requests are measured from traces. Set OTEL_${what.toUpperCase()}_EXPORTER=none to stop sending them.`;
      return sendAnswer(response, { path, encoding, partialSuccess: { rejected: 0, errorMessage } });
    }
    services.checkRate(key.keyId);
    const read = await receiveSpans(request, { ...key, encoding });
    services.countRate(key.keyId, read.spans.length);
    await appendSpans(key.projectId, read.spans);
    countRead(key, read);
    sendAnswer(response, { path, encoding, partialSuccess: partialSuccess(read) });
  } catch (error) {
    sendError(response, encoding, error);
    if (!request.complete) request.resume(); // a client still sending sees the answer, not a reset
  }
}

async function receiveSpans(
  request: IncomingMessage,
  { projectId, scope, encoding }: { projectId: string; scope: string; encoding: Encoding },
): Promise<SpansRead> {
  const [body, { attributes }] = await Promise.all([receiveBody(request), recentTermRules(projectId)]);
  const wire = encoding === 'protobuf' ? decodeProtobuf(body) : parseJson(decodeText(body));
  const vantage = scope === 'browser' ? 'client' : scope === 'probe' ? 'probe' : null;
  return readSpans(wire, { nowUs: Date.now() * 1_000, keptToo: attributes, vantage });
}

function countRead({ projectId, keyId }: { projectId: string; keyId: string }, { spans, rejected }: SpansRead): void {
  const kinds: Record<string, number> = { spans: spans.length };
  for (const [reason, count] of rejected) kinds[`rejectedSpans:${reason}`] = count;
  const receivedAtMs = Date.now();
  addCounts(projectId, kinds, receivedAtMs);
  const newestUs = spans.reduce((newest, span) => Math.max(newest, span.startUs), 0);
  const newestEventMs = newestUs === 0 ? null : Math.floor(newestUs / 1_000);
  noteKey(projectId, { keyId, newestEventMs, receivedAtMs, skewMs: null });
}

function partialSuccess({ rejected }: SpansRead) {
  if (rejected.size === 0) return null;
  const reasons = [...rejected].map(([reason, count]) => `${count} that ${REJECT_WORDS[reason]}`);
  const total = [...rejected.values()].reduce((a, b) => a + b, 0);
  return { rejected: total, errorMessage: `Spans left out: ${reasons.join('; ')}.` };
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers'];
  response.setHeader('Access-Control-Allow-Methods', 'POST');
  response.setHeader('Access-Control-Allow-Headers', asked && asked.length <= 1_000 ? asked : DEFAULT_HEADERS);
  response.setHeader('Access-Control-Max-Age', '600');
  response.writeHead(204).end();
}

/** Any origin may read the answer: it holds nothing, and whether it may write is the key's to say, not a cookie's. */
function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return;
  response.setHeader('Access-Control-Allow-Origin', request.headers.origin);
  response.setHeader('Vary', 'Origin');
}

/** Reads a body to its end without keeping it. */
async function discard(request: IncomingMessage): Promise<void> {
  request.resume();
  if (!request.complete) await new Promise((resolve) => request.once('close', resolve).once('end', resolve));
}

function unavailable(): AnswerError {
  const hint = 'Send the same batch again.';
  return new AnswerError({
    status: 503,
    code: 'database_unavailable',
    message: 'The database does not answer.',
    hint,
    retryAfterS: 2,
  });
}
