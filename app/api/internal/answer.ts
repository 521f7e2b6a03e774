import { isAnswerError } from '@/lib/platform/errors';
import { log } from '@/lib/platform/log';

/** The JSON answer to an error: its own words for an AnswerError, 500 for the rest. */
export function answerError(error: unknown): Response {
  if (!isAnswerError(error)) log().error({ err: error }, 'request failed');
  const { status, code, message, hint } = isAnswerError(error)
    ? error
    : { status: 500, code: 'internal', message: 'Something went wrong here.', hint: 'Look at the log of the server.' };
  const headers = new Headers({ 'cache-control': 'no-store' });
  if (isAnswerError(error) && error.retryAfterS !== undefined) headers.set('retry-after', String(error.retryAfterS));
  return Response.json({ error: { code, message, hint } }, { status, headers });
}

/** A JSON answer that nobody may keep. */
export function answerJson(body: unknown, status = 200): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'private, no-store' } });
}
