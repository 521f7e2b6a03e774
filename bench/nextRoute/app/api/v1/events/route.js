// The yardstick of `npm run bench single`: the same pipeline (keys, contract, dedupe, group commit) behind a route handler.
import { authenticateKey } from '../../../../../../lib/auth/keys';
import { ingest } from '../../../../../../lib/ingest/pipeline';

export const dynamic = 'force-dynamic';

export async function POST(request) {
  const receivedAtUs = Date.now() * 1_000;
  const { projectId, keyId } = await authenticateKey(request.headers, ['ingest']);
  const items = await request.json();
  const batch = {
    projectId,
    keyId,
    defaultVantage: 'service',
    idempotencyKey: null,
    sentAtUs: null,
    receivedAtUs,
    items,
  };
  const text = JSON.stringify(await ingest(batch));
  return new Response(text, {
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
  });
}
