// The web process: ingest and /healthz answered here, outside Next (a route handler costs 34× more a request);
// everything else passes the gate and goes to Next.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import next from 'next';
import { authenticateKey } from '../lib/auth/keys';
import { initialise } from '../lib/auth/setup';
import { closeHealth, isDatabaseReachable } from '../lib/db/health';
import { pool } from '../lib/db/pool';
import { createIngestHandler, drainIngest, prepareIngest } from '../lib/ingest/handler';
import { contentSecurityPolicy, SECURITY_HEADERS } from '../lib/platform/contentSecurity';
import { env, exportAuthSettings } from '../lib/platform/env';
import { AnswerError, isAnswerError } from '../lib/platform/errors';
import { checkRequest, cleanHeaders } from '../lib/platform/httpGate';
import { GIVE_UP_CODE, onStop } from '../lib/platform/lifecycle';
import { log } from '../lib/platform/log';
import { version } from '../package.json';

const DRAIN_MS = 4_000;
/** How long a port may stay taken by an earlier server that is still draining. */
const PORT_PATIENCE_MS = 6_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

async function main(): Promise<void> {
  const settings = env();
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 65_000 });
  const answerIngest = createIngestHandler({ authenticate: authenticateKey });
  let answerPage: Answer | null = null;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    route(request, response, { answerIngest, answerPage }).catch((error: unknown) => answerError(response, error));
  });
  onStop((reason) => void stop(server, reason));
  const port = await listen(server, settings.PORT);
  const publicUrl = settings.ISOCHRONE_URL ?? `http://${displayHost(settings.HOST)}:${port}`;
  exportAuthSettings(publicUrl);
  await prepareIngest();
  const { setupUrl } = await initialise(publicUrl);
  answerPage = await preparePages(server, { port, publicUrl });
  process.send?.({ kind: 'listening', url: publicUrl, port, setupUrl });
  log().info({ url: publicUrl }, 'listening');
  if (setupUrl !== null && process.send === undefined)
    console.log(`Create the owner once, with this link: ${setupUrl}`);
}

async function preparePages(server: Server, at: { port: number; publicUrl: string }): Promise<Answer> {
  const settings = env();
  const dev = settings.NODE_ENV === 'development';
  const app = next({
    dev,
    dir: process.cwd(),
    hostname: settings.HOST,
    port: at.port,
    // Next hangs its websocket upgrade on this server; in production one that never listens, so upgrades are refused
    httpServer: dev ? server : createServer(),
  });
  await app.prepare();
  const pages = app.getRequestHandler();
  const ownHosts = new Set([new URL(at.publicUrl).hostname, settings.HOST, os.hostname().toLowerCase()]);
  return (request, response) => {
    checkRequest({ method: request.method ?? '', target: request.url ?? '', headers: request.headers }, { ownHosts });
    const remoteAddress = request.socket.remoteAddress ?? '';
    cleanHeaders(request.headers, { trustedHops: settings.TRUSTED_HOPS, remoteAddress });
    const policy = contentSecurityPolicy(randomBytes(16).toString('base64'), { dev });
    request.headers['content-security-policy'] = policy;
    response.setHeader('content-security-policy', policy);
    return pages(request, response);
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  to: {
    answerIngest: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
    answerPage: Answer | null;
  },
): Promise<void> {
  if (to.answerPage === null) {
    const hint = 'Try again in a second.';
    throw new AnswerError({ status: 503, code: 'starting', message: 'Isochrone is starting.', hint, retryAfterS: 1 });
  }
  if ((request.url ?? '').split('?', 1)[0] === '/healthz') return answerHealth(response);
  if (await to.answerIngest(request, response)) return;
  await to.answerPage(request, response);
}

async function answerHealth(response: ServerResponse): Promise<void> {
  const reachable = await isDatabaseReachable();
  answerJson(response, reachable ? 200 : 503, {
    status: reachable ? 'ok' : 'unavailable',
    database: reachable ? 'reachable' : 'unreachable',
    version,
  });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}

function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  if (!isAnswerError(error)) log().error({ err: error }, 'request failed');
  const answer = isAnswerError(error)
    ? error
    : { status: 500, code: 'internal', message: 'Something went wrong here.', hint: 'Look at the log of the server.' };
  const { status, code, message, hint } = answer;
  if ('retryAfterS' in answer && answer.retryAfterS !== undefined)
    response.setHeader('retry-after', answer.retryAfterS);
  response.setHeader('connection', 'close'); // a refused body is not read
  answerJson(response, status, { error: { code, message, hint } });
}

async function listen(server: Server, port: number): Promise<number> {
  for (const until = Date.now() + PORT_PATIENCE_MS; ; ) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, env().HOST, () => {
          server.off('error', reject);
          resolve();
        });
      });
      return (server.address() as AddressInfo).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (Date.now() > until) throw new Error(`Port ${port} is taken by another program: set PORT to a free one.`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** The host to show: a wildcard address is no address to open. */
function displayHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Takes no new requests, lets those in flight finish and get their COMMIT, and ends. */
async function stop(server: Server, reason: string): Promise<void> {
  log().info({ reason }, 'stopping');
  setTimeout(() => process.exit(0), DRAIN_MS + 500).unref();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await Promise.all([closed, drainIngest(DRAIN_MS)]);
  clearInterval(idle);
  await Promise.allSettled([pool().end(), closeHealth()]);
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(`[isochrone] ${error instanceof Error ? error.message : String(error)}`);
  const isSetting = error instanceof Error && /^(Port \d|Environment variable|ISOCHRONE_)/.test(error.message);
  process.exit(isSetting ? GIVE_UP_CODE : 1);
});
