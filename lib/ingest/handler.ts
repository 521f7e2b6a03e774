// HTTP in front of the pipeline, for bin/server (before Next) and bin/ingest.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Vantage } from '../core/terms';
import { writeCounts } from '../db/counts';
import { daysAhead, ensurePartitions } from '../db/partitions';
import { env } from '../platform/env';
import { AnswerError, isAnswerError } from '../platform/errors';
import { log } from '../platform/log';
import { singleton } from '../platform/singleton';
import { appendIdle } from './append';
import { appendSpansIdle } from './otlp/appendSpans';
import { answerOtlp, isOtlpPath } from './otlp/handler';
import { ingest } from './pipeline';
import { RateLimiter } from './rateLimit';
import { receive } from './receive';
import { parseTimeUs } from './validate';

type Scope = 'ingest' | 'probe' | 'browser';
const SCOPES: readonly Scope[] = ['ingest', 'probe', 'browser'];
const DEFAULT_VANTAGE: Record<Scope, Vantage> = { ingest: 'service', probe: 'probe', browser: 'client' };

/** `authenticateKey` of lib/auth: ingest does not import auth. Throws AnswerError 401 or 403. */
export type Authenticate = (
  headers: IncomingMessage['headers'],
  scopes: readonly Scope[],
) => Promise<{ projectId: string; keyId: string; scope: string }>;

const PATH = '/api/v1/events';
const MAX_CONCURRENT = 256;
const MAX_DISCARDED = 64 * 1024 * 1024;
const CORS_HEADERS =
  'authorization, content-type, content-encoding, idempotency-key, x-isochrone-key, x-isochrone-sent-at';

function state() {
  return singleton('ingest', () => ({ open: 0, draining: false }));
}

/** Answers POST /api/v1/events and OTLP (/v1/traces, …). The handler resolves to false when the request is neither. */
export function createIngestHandler({ authenticate }: { authenticate: Authenticate }) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const path = (request.url ?? '').split('?')[0]!;
    if (path !== PATH && !isOtlpPath(path)) return false;
    const s = state();
    s.open++;
    try {
      if (isOtlpPath(path)) {
        await answerOtlp(request, response, { path, services: { admit, authenticate, checkRate, countRate } });
      } else await answer(request, response, authenticate);
    } catch (error) {
      answerError(request, response, error);
    } finally {
      s.open--;
    }
    return true;
  };
}

/** Makes the partitions of the coming days. A database that is not there yet is no reason not to start. */
export async function prepareIngest(): Promise<void> {
  await ensurePartitions(daysAhead(Date.now())).catch((error: unknown) => {
    log().warn({ err: error }, 'partitions not made yet; the first event makes its own');
  });
}

/** Refuses new posts (503), answers those that are in, and writes the counts. At most `timeoutMs`. */
export async function drainIngest(timeoutMs = 8_000): Promise<void> {
  const s = state();
  s.draining = true;
  const endMs = Date.now() + timeoutMs;
  while (s.open > 0 && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
  const left = new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, endMs - Date.now())).unref());
  await Promise.race([Promise.all([appendIdle(), appendSpansIdle()]).then(writeCounts), left]);
}

/** Throws AnswerError when no more requests are taken now. */
function admit(): void {
  const s = state();
  if (s.draining) throw busy(503, 'shutting_down', 'This process is shutting down.');
  if (s.open > MAX_CONCURRENT) throw busy(429, 'too_many_requests', 'Too many posts at once.');
}

const limiter = () => singleton('keyRate', () => new RateLimiter(env().KEY_EVENTS_A_SECOND));

/** Throws AnswerError 429 while a key is above its rate. */
function checkRate(keyId: string): void {
  if (limiter().waitS(keyId, Date.now()) > 0)
    throw busy(429, 'key_rate', `This key sends more than ${env().KEY_EVENTS_A_SECOND} events a second.`);
}

/** Counts events or spans that a key sent. */
function countRate(keyId: string, count: number): void {
  limiter().take(keyId, count, Date.now());
}

async function answer(request: IncomingMessage, response: ServerResponse, authenticate: Authenticate): Promise<void> {
  const receivedAtUs = Date.now() * 1_000;
  if (request.method === 'OPTIONS') {
    allowOrigin(request, response);
    response.setHeader('Access-Control-Allow-Methods', 'POST');
    response.setHeader('Access-Control-Allow-Headers', CORS_HEADERS);
    response.setHeader('Access-Control-Max-Age', '600');
    response.writeHead(204).end();
    return;
  }
  if (request.method !== 'POST') {
    response.setHeader('Allow', 'POST, OPTIONS');
    throw new AnswerError({ status: 405, code: 'method', message: 'Events are posted.', hint: `Use POST ${PATH}.` });
  }
  admit();
  const key = await authenticate(request.headers, SCOPES).catch((error: unknown) => {
    throw isAnswerError(error) ? error : busy(503, 'database_unavailable', 'The database does not answer.');
  });
  if (key.scope === 'browser') allowOrigin(request, response);
  checkRate(key.keyId);
  const batch = {
    projectId: key.projectId,
    keyId: key.keyId,
    defaultVantage: DEFAULT_VANTAGE[key.scope as Scope],
    idempotencyKey: idempotencyKey(request),
    sentAtUs: sentAt(request),
    receivedAtUs,
  };
  const items = await receive(request);
  countRate(key.keyId, items.length);
  send(response, 200, await ingest({ ...batch, items }));
}

function idempotencyKey(request: IncomingMessage): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key === '') return null;
  if (typeof key === 'string' && key.length <= 256) return key;
  throw new AnswerError({
    status: 400,
    code: 'idempotency_key',
    message: 'The Idempotency-Key is longer than 256 characters.',
    hint: 'Send a UUID a batch.',
  });
}

function sentAt(request: IncomingMessage): number | null {
  const text = request.headers['x-isochrone-sent-at'];
  if (typeof text !== 'string' || text === '') return null;
  const us = parseTimeUs(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  if (us !== null) return us;
  throw new AnswerError({
    status: 400,
    code: 'sent_at',
    message: 'X-Isochrone-Sent-At is not a time.',
    hint: 'Send RFC 3339 or milliseconds since 1970, or leave it out.',
  });
}

function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return;
  response.setHeader('Access-Control-Allow-Origin', request.headers.origin);
  response.setHeader('Vary', 'Origin');
}

function busy(status: 429 | 503, code: string, message: string): AnswerError {
  return new AnswerError({
    status,
    code,
    message,
    hint: 'Send the same batch again.',
    retryAfterS: 1 + (Date.now() % 3),
  });
}

function answerError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (!isAnswerError(error)) log().error({ err: error }, 'ingest failed');
  const { status, code, message, hint, retryAfterS } = isAnswerError(error)
    ? error
    : { status: 500, code: 'internal', message: 'Something failed here.', hint: 'Try again.', retryAfterS: 1 };
  if (response.headersSent) return;
  if (retryAfterS !== undefined) response.setHeader('Retry-After', String(retryAfterS));
  if (!request.complete) discardBody(request);
  send(response, status, { error: { code, message, hint } });
}

/** Reads on for a while, so that a client still sending sees the answer instead of a reset connection. */
function discardBody(request: IncomingMessage): void {
  let left = MAX_DISCARDED;
  request.removeAllListeners('data');
  request.on('data', (part: Buffer) => {
    left -= part.length;
    if (left < 0) request.destroy();
  });
  request.on('error', () => {});
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  });
  response.end(text);
}
