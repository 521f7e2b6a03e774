// npm run demo: fills the project "demo" of the running instance through its real ingest API.
//   npm run demo [-- --requests 80000] [--url http://127.0.0.1:3000]
// Running it again replaces what was there.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { replaceDemoProject } from '../lib/commands/replaceDemoProject';
import { countPending } from '../lib/db/countPending';
import { HOUR_MS, load } from '../lib/demo/arrivals';
import { FASTEST_ENDPOINT, fastestRequests } from '../lib/demo/fastest';
import { type Measured, parseMeasured } from '../lib/demo/measured';
import { type DemoEvent, requestsOfHour } from '../lib/demo/requests';
import { env } from '../lib/platform/env';

const WEEK_HOURS = 7 * 24;
const BATCH = 2_000;
const ATTEMPTS = 8;
const STILL_S = 10;
const SLUG = 'demo';
const zip = promisify(gzip);

/** About `requests` generated ones and the real ones, of the 7 days until `nowMs`, oldest first. */
function* eventsOfWeek(measured: Measured, { requests, nowMs }: { requests: number; nowMs: number }) {
  const lastHourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: WEEK_HOURS }, (_, index) => lastHourMs - (WEEK_HOURS - 1 - index) * HOUR_MS);
  const fromMs = hours[0] ?? lastHourMs;
  const perHourAtFullLoad = requests / hours.reduce((sum, hourMs) => sum + load(hourMs), 0);
  for (const hourMs of hours)
    yield* requestsOfHour(measured, { hourMs, perHourAtFullLoad }).filter((event) => event.startedAt < nowMs - 5_000);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  yield* fastestRequests(measured, { fromMs, toMs: nowMs - 60_000, day }).slice(0, requests);
}

async function post(url: string, key: string, events: DemoEvent[]): Promise<number> {
  const body = new Uint8Array(await zip(JSON.stringify(events)));
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body,
    }).catch((error: unknown) => {
      throw new Error(`Isochrone does not answer at ${url}: start it with \`npm start\` (${String(error)})`);
    });
    if (answer.status === 200) {
      const { accepted, rejected } = (await answer.json()) as { accepted: number; rejected: { message: string }[] };
      if (rejected[0]) throw new Error(`${rejected.length} events were refused, the first: ${rejected[0].message}`);
      return accepted;
    }
    if ((answer.status !== 429 && answer.status !== 503) || attempt >= ATTEMPTS)
      throw new Error(`The ingest API answered ${answer.status}: ${await answer.text()}`);
    const waitS = Number(answer.headers.get('retry-after') ?? 1);
    await new Promise((resolve) => setTimeout(resolve, (Number.isFinite(waitS) ? waitS : 1) * 1_000));
  }
}

/** Waits while the worker folds: the pages answer before that too, but slowly. Gives up when nothing moves. */
async function untilFolded(projectId: string): Promise<void> {
  let left = await countPending(projectId);
  for (let stillS = 0; left > 0 && stillS < STILL_S; stillS++) {
    if (stillS === 0) console.log(`[demo] the worker has ${left} requests to fold`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = await countPending(projectId);
    if (now < left) stillS = -1;
    left = now;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { requests: { type: 'string', default: '80000' }, url: { type: 'string' } },
  });
  const requests = Number(values.requests);
  if (!Number.isInteger(requests) || requests < 1) throw new Error('--requests must be a whole number of at least 1.');
  const url = (values.url ?? `http://127.0.0.1:${env().PORT}`).replace(/\/$/, '');
  const measured = parseMeasured((file) => readFileSync(path.resolve('data/demo', file), 'utf8'));
  const { projectId, ingestKey } = await replaceDemoProject({ slug: SLUG, actor: 'npm run demo' });
  console.log(`[demo] posting about ${requests} generated requests and those of ${FASTEST_ENDPOINT} to ${url}`);
  let accepted = 0;
  let batch: DemoEvent[] = [];
  const send = async () => {
    if (batch.length > 0) accepted += await post(url, ingestKey, batch);
    batch = [];
  };
  let posts = 0;
  for (const event of eventsOfWeek(measured, { requests, nowMs: Date.now() })) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    await send();
    if (++posts % 5 === 0) console.log(`[demo] ${accepted} accepted`);
  }
  await send();
  console.log(`[demo] ${accepted} requests accepted`);
  await untilFolded(projectId);
  console.log(`[demo] Look at ${url}/${SLUG}`);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(`[demo] ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
