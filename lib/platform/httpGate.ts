// What every request passes before Next sees it. Pure: decides on method, target and headers alone.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { AnswerError } from './errors';

/** Bytes of a body outside ingest. */
export const BODY_BYTES_MAX = 1024 * 1024;

export interface GateRequest {
  method: string;
  /** The request target as sent. */
  target: string;
  headers: IncomingHttpHeaders;
}

/** Throws an AnswerError for what is never answered: odd targets, foreign hosts, writes to pages, large bodies. */
export function checkRequest(request: GateRequest, options: { ownHosts: ReadonlySet<string> }): void {
  checkTarget(request.target);
  const isKeyed = request.headers.authorization !== undefined || request.headers['x-isochrone-key'] !== undefined;
  if (!isKeyed) checkHost(request.headers.host, options.ownHosts);
  checkMethod(request.method, request.target);
  checkBody(request.headers);
}

function checkTarget(target: string): void {
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('\\'))
    throw refusal(400, 'bad_target', 'The request target is not a path.', 'Send the path only, such as /healthz.');
  try {
    decodeURIComponent(target.split('?', 1)[0] ?? '');
  } catch {
    throw refusal(
      400,
      'bad_target',
      'The path holds a malformed percent escape.',
      'Encode it with encodeURIComponent.',
    );
  }
}

/**
 * Address literals, localhost and the configured names pass. Any other name could be someone's DNS pointing here, by
 * which their page would read ours. Calls that carry a key are exempt: a browser cannot be made to add one.
 */
function checkHost(host: string | undefined, ownHosts: ReadonlySet<string>): void {
  const name = hostName(host);
  if (name === null)
    throw refusal(
      400,
      'bad_host',
      'The Host header is missing or malformed.',
      'Send one Host header: name or name:port.',
    );
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0 || ownHosts.has(name)) return;
  throw refusal(
    421,
    'unknown_host',
    `This server is not known as ${name}.`,
    'Set ISOCHRONE_URL to the address people use.',
  );
}

/** The lower-case name of a Host header without port and brackets, null when it is not one. */
export function hostName(host: string | undefined): string | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host ?? '');
  return match ? (match[1] ?? match[2] ?? '').toLowerCase() : null;
}

function checkMethod(method: string, target: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  const isApi = target.startsWith('/api/') || target.startsWith('/v1/');
  if (isApi && ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method)) return;
  throw refusal(405, 'method_not_allowed', `${method} is not answered here.`, 'Pages answer GET; writes go to /api.');
}

function checkBody(headers: IncomingHttpHeaders): void {
  if (headers['transfer-encoding'] !== undefined)
    throw refusal(411, 'length_required', 'A body needs a Content-Length.', 'Send the body whole, not chunked.');
  if (Number(headers['content-length'] ?? '0') > BODY_BYTES_MAX)
    throw refusal(413, 'body_too_large', 'The body is larger than 1 MiB.', 'Send less at once.');
}

function refusal(status: number, code: string, message: string, hint: string): AnswerError {
  return new AnswerError({ status, code, message, hint });
}

/** Headers by which clients have steered a framework past its own checks: never passed on. */
const DROPPED = [
  'next-action',
  'x-middleware-subrequest',
  'x-middleware-rewrite',
  'x-matched-path',
  'x-now-route-matches',
];
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'];

/**
 * Takes out what a client may not say. What proxies say stays only when TRUSTED_HOPS names them; our own entry is
 * appended to X-Forwarded-For, so that the client is always the entry TRUSTED_HOPS + 1 from the right.
 */
export function cleanHeaders(
  headers: IncomingHttpHeaders,
  options: { trustedHops: number; remoteAddress: string },
): void {
  for (const name of DROPPED) delete headers[name];
  for (const name of Object.keys(headers)) if (name.startsWith('x-middleware-')) delete headers[name];
  const before = options.trustedHops > 0 ? headers['x-forwarded-for'] : undefined;
  if (options.trustedHops === 0) for (const name of FORWARDED) delete headers[name];
  headers['x-forwarded-for'] = before === undefined ? options.remoteAddress : `${before}, ${options.remoteAddress}`;
}
