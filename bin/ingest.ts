// The ingest alone: several of these share nothing but the database.

import { createServer, type ServerResponse } from 'node:http';
import { authenticateKey } from '../lib/auth/keys';
import { closeHealth, isDatabaseReachable } from '../lib/db/health';
import { pool } from '../lib/db/pool';
import { createIngestHandler, drainIngest, prepareIngest } from '../lib/ingest/handler';
import { env } from '../lib/platform/env';
import { onStop } from '../lib/platform/lifecycle';
import { log } from '../lib/platform/log';

const { PORT, HOST } = env();
const handleIngest = createIngestHandler({ authenticate: authenticateKey });

const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
  handleIngest(request, response)
    .then((answered) => {
      if (answered) return;
      return answerOther(request.url ?? '', response);
    })
    .catch((error: unknown) => {
      log().error({ err: error }, 'request failed');
      response.destroy();
    });
});

async function answerOther(url: string, response: ServerResponse): Promise<void> {
  const isHealth = url.split('?', 1)[0] === '/healthz';
  const database = isHealth && (await isDatabaseReachable()) ? 'reachable' : 'unreachable';
  const status = !isHealth ? 404 : database === 'reachable' ? 200 : 503;
  const body = isHealth
    ? { status: status === 200 ? 'ok' : 'unavailable', database }
    : { error: { code: 'not_found', message: 'Nothing is here.', hint: 'Post to /api/v1/events.' } };
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const DRAIN_MS = 8_000;

async function stop(): Promise<void> {
  // a connection that hangs holds nobody up
  setTimeout(() => process.exit(0), DRAIN_MS + 500).unref();
  server.close();
  await drainIngest(DRAIN_MS);
  await Promise.allSettled([pool().end(), closeHealth()]);
  process.exit(0);
}
onStop(() => void stop());

await prepareIngest();
server.listen(PORT, HOST, () => log().info({ port: PORT, host: HOST }, 'ingest listens'));
