import { AnswerError, isAnswerError } from '@/lib/platform/errors';
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

/** Answers with what `work` gives, or with the error it throws. */
export async function answer(work: () => Promise<unknown>): Promise<Response> {
  try {
    return answerJson(await work());
  } catch (error) {
    return answerError(error);
  }
}

/** The JSON body of a request; 400 when it is none. What it holds is for a schema to say. */
export async function readJson(request: Request): Promise<unknown> {
  return request.json().catch(() => {
    throw new AnswerError({ status: 400, code: 'not_json', message: 'The body is not JSON.', hint: 'Send an object.' });
  });
}
