import { describe, expect, it } from 'vitest';
import { isAnswerError } from '../../lib/platform/errors';
import { checkRequest, cleanHeaders } from '../../lib/platform/httpGate';

const ownHosts = new Set(['isochrone.example.com']);

function statusOf(request: { method?: string; target?: string; headers?: Record<string, string> }): number {
  try {
    const headers = { host: 'localhost:3000', ...request.headers };
    checkRequest({ method: request.method ?? 'GET', target: request.target ?? '/', headers }, { ownHosts });
    return 200;
  } catch (error) {
    if (isAnswerError(error)) return error.status;
    throw error;
  }
}

describe('checkRequest', () => {
  it.each([
    [{ target: '/p/demo?from=1' }, 200],
    [{ target: 'http://169.254.169.254/latest' }, 400],
    [{ target: '//evil.example/x' }, 400],
    [{ target: '/%E0%A4%A' }, 400],
    [{ target: '*', method: 'OPTIONS' }, 400],
    [{ headers: { host: 'evil.example' } }, 421],
    [{ headers: { host: '' } }, 400],
    [{ headers: { host: 'a.example@localhost' } }, 400],
    [{ headers: { host: '127.0.0.1:3000' } }, 200],
    [{ headers: { host: '[::1]:3000' } }, 200],
    [{ headers: { host: 'isochrone.example.com' } }, 200],
    [{ headers: { host: 'app:3000', authorization: 'Bearer k' } }, 200],
    [{ method: 'POST', target: '/p/demo' }, 405],
    [{ method: 'POST', target: '/api/auth/callback', headers: { 'content-length': '10' } }, 200],
    [{ method: 'PUT', target: '/api/v1/floors', headers: { 'content-length': '1048577' } }, 413],
    [{ method: 'PUT', target: '/api/v1/floors', headers: { 'transfer-encoding': 'chunked' } }, 411],
    [{ method: 'TRACE', target: '/api/v1/floors' }, 405],
  ])('%j → %i', (request, status) => {
    expect(statusOf(request)).toBe(status);
  });
});

describe('cleanHeaders', () => {
  it('drops what steers the framework and what untrusted clients say of themselves', () => {
    const headers: Record<string, string> = {
      'next-action': 'x',
      'x-middleware-subrequest': 'middleware',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-host': 'evil.example',
      accept: '*/*',
    };
    cleanHeaders(headers, { trustedHops: 0, remoteAddress: '10.0.0.9' });
    expect(headers).toEqual({ accept: '*/*', 'x-forwarded-for': '10.0.0.9' });
  });

  it('keeps the chain of trusted proxies and appends the peer', () => {
    const headers: Record<string, string> = { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' };
    cleanHeaders(headers, { trustedHops: 1, remoteAddress: '10.0.0.9' });
    expect(headers['x-forwarded-for']).toBe('6.6.6.6, 1.2.3.4, 10.0.0.9');
  });
});
