// Answers in the encoding of the request, because exporters decode them with the same one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import protobuf from 'protobufjs';
import { AnswerError, isAnswerError } from '../../platform/errors';
import { log } from '../../platform/log';
import { encodePartialSuccess } from './wire';

export type Encoding = 'protobuf' | 'json';
/** What was not taken of an export; null when everything was. */
export type PartialSuccess = { rejected: number; errorMessage: string } | null;

/** How the three signals call what they reject, in JSON; in protobuf it is the same field of each. */
export const REJECTED_FIELD = {
  '/v1/traces': 'rejectedSpans',
  '/v1/logs': 'rejectedLogRecords',
  '/v1/metrics': 'rejectedDataPoints',
} as const;
export type OtlpPath = keyof typeof REJECTED_FIELD;

const CONTENT_TYPE: Record<Encoding, string> = { protobuf: 'application/x-protobuf', json: 'application/json' };

/** The encoding that a request declares. Browsers' beacons declare text/plain. Throws AnswerError 415. */
export function encodingOf(request: IncomingMessage): Encoding {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === 'application/x-protobuf' || type === 'application/protobuf') return 'protobuf';
  if (type === 'application/json' || type === 'text/plain' || type === '') return 'json';
  throw new AnswerError({
    status: 415,
    code: 'media_type',
    message: `The content type ${type} is not read here.`,
    hint: 'Send application/x-protobuf or application/json (OTLP over HTTP, not gRPC).',
  });
}

/** 200 with what was not taken. */
export function sendAnswer(
  response: ServerResponse,
  to: { path: OtlpPath; encoding: Encoding; partialSuccess: PartialSuccess },
): void {
  const { path, encoding, partialSuccess } = to;
  if (encoding === 'protobuf') {
    const { rejected = 0, errorMessage = '' } = partialSuccess ?? {};
    const body = encodePartialSuccess(partialSuccess && { rejectedSpans: rejected, errorMessage });
    send(response, { status: 200, encoding, body });
    return;
  }
  const answer =
    partialSuccess === null
      ? {}
      : {
          // int64 is text in the JSON mapping
          partialSuccess: {
            [REJECTED_FIELD[path]]: String(partialSuccess.rejected),
            errorMessage: partialSuccess.errorMessage,
          },
        };
  send(response, { status: 200, encoding, body: Buffer.from(JSON.stringify(answer)) });
}

/** gRPC codes that google.rpc.Status holds beside the HTTP status. */
const RPC_CODES: Record<number, number> = { 400: 3, 401: 16, 403: 7, 413: 3, 415: 3, 429: 8, 503: 14 };

/**
 * The answer to a request that was refused whole: google.rpc.Status. Never 500, which exporters take as final: what
 * went wrong here may pass, so they are asked to send again.
 */
export function sendError(response: ServerResponse, encoding: Encoding, error: unknown): void {
  if (!isAnswerError(error)) log().error({ err: error }, 'OTLP request failed');
  const { status, message, hint, retryAfterS } = isAnswerError(error)
    ? error
    : { status: 503, message: 'Something failed here.', hint: 'Send the same batch again.', retryAfterS: 2 };
  if (response.headersSent) return;
  if (retryAfterS !== undefined) response.setHeader('Retry-After', String(retryAfterS));
  const [code, text] = [RPC_CODES[status] ?? 2, `${message} ${hint}`];
  const body =
    encoding === 'json'
      ? Buffer.from(JSON.stringify({ code, message: text }))
      : Buffer.from(protobuf.Writer.create().uint32(8).int32(code).uint32(18).string(text).finish());
  send(response, { status, encoding, body });
}

function send(response: ServerResponse, answer: { status: number; encoding: Encoding; body: Buffer }): void {
  response.writeHead(answer.status, {
    'Content-Type': CONTENT_TYPE[answer.encoding],
    'Content-Length': answer.body.length,
    'Cache-Control': 'no-store',
  });
  response.end(answer.body);
}
