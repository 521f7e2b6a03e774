import { env } from '../platform/env';
import { AnswerError } from '../platform/errors';

/**
 * Refuses a write that rides on a cookie unless it comes from our own pages: own Origin, same-origin fetch, JSON.
 * The Host header is trustworthy here: the gate before Next lets only our own names pass. Throws AnswerError 403 or 415.
 */
export function requireOwnOrigin(request: Request): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const isOwn = origin !== null && isOwnOrigin(origin, request.headers.get('host'));
  if (!isOwn || (site !== null && site !== 'same-origin')) {
    const hint = 'Use the pages of this server, or send a key in the Authorization header.';
    throw new AnswerError({ status: 403, code: 'origin', message: 'This call came from another site.', hint });
  }
  if (request.method !== 'DELETE' && !/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    const hint = 'Send content-type: application/json.';
    throw new AnswerError({ status: 415, code: 'content_type', message: 'The body must be JSON.', hint });
  }
}

function isOwnOrigin(origin: string, host: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const configured = env().ISOCHRONE_URL;
  if (configured !== undefined && new URL(configured).origin === origin) return true;
  return host !== null && new URL(origin).host === host.toLowerCase();
}
