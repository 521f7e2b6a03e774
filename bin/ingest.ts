// The ingest alone: several of these share nothing but the database.

import { createServer } from 'node:http';
import { authenticateKey } from '../lib/auth/keys';
import { pool } from '../lib/db/pool';
import { createIngestHandler, drainIngest, prepareIngest } from '../lib/ingest/handler';
import { env } from '../lib/platform/env';
import { log } from '../lib/platform/log';

const { PORT, HOST } = env();
const handleIngest = createIngestHandler({ authenticate: authenticateKey });

const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
  handleIngest(request, response)
    .then((answered) => {
      if (answered) return;
      const status = request.url === '/healthz' ? 200 : 404;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ok: status === 200 }));
    })
    .catch((error: unknown) => {
      log().error({ err: error }, 'request failed');
      response.destroy();
    });
});

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  server.close();
  await drainIngest();
  await pool().end();
  process.exit(0);
}
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());

await prepareIngest();
server.listen(PORT, HOST, () => log().info({ port: PORT, host: HOST }, 'ingest listens'));
