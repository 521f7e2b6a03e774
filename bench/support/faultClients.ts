// Clients that never give up: each sends a batch until it is acknowledged, to either process, sometimes cutting the
// connection before the answer, sometimes sending again what was acknowledged long ago.
import { randomUUID } from 'node:crypto';
import http from 'node:http';

export type ClientLog = {
  /** Ids of events in acknowledged batches. */
  acknowledged: Set<string>;
  /** Ids of everything that was ever sent. */
  sent: Set<string>;
  posts: number;
  /** Answers by status, `cut` and `failed` (no answer) among them. */
  answers: Record<string, number>;
  /** What must never happen, in words. */
  wrong: string[];
  longestOutageMs: number;
};

type Options = { ports: readonly number[]; key: string; random: () => number; until: () => boolean };
type Batch = { ids: string[]; body: string; key: string | null };

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const DAY_MS = 86_400_000;

function makeBatch(random: () => number): Batch {
  const size = 1 + Math.floor(random() ** 2 * 50);
  const events = Array.from({ length: size }, () => ({
    id: randomUUID(),
    // some of yesterday: a batch of two days, two chunks
    startedAt: Date.now() - (random() < 0.1 ? DAY_MS : 1_000 * random()),
    endpoint: `/v1/${Math.floor(random() * 5)}`,
    clientRegion: ['eu-west-2', 'us-east-1', 'ap-south-1'][Math.floor(random() * 3)],
    e2eMs: 100 + Math.floor(900 * random()),
    terms: { queueMs: Math.floor(50 * random()), modelMs: 40 },
    attributes: { plan: random() < 0.5 ? 'free' : 'team' },
  }));
  return {
    ids: events.map((event) => event.id),
    body: JSON.stringify(events),
    // A single event without a key is in no ledger: across processes it would be unique only after the seal
    key: size === 1 || random() < 0.3 ? randomUUID() : null,
  };
}

type Answer = { status: number; accepted: number; duplicates: number };

/** One attempt; null when no answer came, or the connection was cut on purpose after `cutAfterMs`. */
function send(batch: Batch, options: { port: number; key: string; cutAfterMs: number | null }): Promise<Answer | null> {
  return new Promise((resolve) => {
    const request = http.request(
      {
        ...{ host: '127.0.0.1', port: options.port, path: '/api/v1/events', method: 'POST', timeout: 20_000 },
        headers: {
          authorization: `Bearer ${options.key}`,
          'content-type': 'application/json',
          ...(batch.key === null ? {} : { 'idempotency-key': batch.key }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', () => resolve(null));
        response.on('end', () => {
          try {
            resolve({ status: response.statusCode!, ...JSON.parse(Buffer.concat(parts).toString()) });
          } catch {
            resolve(null);
          }
        });
      },
    );
    request.on('error', () => resolve(null));
    request.on('timeout', () => request.destroy());
    request.end(batch.body);
    if (options.cutAfterMs !== null) setTimeout(() => request.destroy(), options.cutAfterMs);
  });
}

/** Runs one client until `until` says so, and until its last batch is acknowledged. */
export async function runClient(log: ClientLog, { ports, key, random, until }: Options): Promise<void> {
  const old: Batch[] = [];
  const count = (what: string) => {
    log.answers[what] = (log.answers[what] ?? 0) + 1;
  };
  while (!until()) {
    const again = old.length > 0 && random() < 0.1 ? old[Math.floor(random() * old.length)]! : null;
    const batch = again ?? makeBatch(random);
    for (const id of batch.ids) log.sent.add(id);
    for (const startedAt = Date.now(); ; ) {
      const cutAfterMs = random() < 0.1 ? random() * 25 : null;
      const port = ports[Math.floor(random() * ports.length)]!;
      const answer = await send(batch, { port, key, cutAfterMs });
      log.posts++;
      count(answer === null ? (cutAfterMs === null ? 'failed' : 'cut') : String(answer.status));
      if (answer?.status === 200) {
        log.longestOutageMs = Math.max(log.longestOutageMs, Date.now() - startedAt);
        if (answer.accepted + answer.duplicates !== batch.ids.length)
          log.wrong.push('an answer does not add up to its batch');
        if (again !== null && answer.accepted > 0) log.wrong.push('an acknowledged batch was accepted again');
        break;
      }
      if (answer !== null && answer.status !== 503 && answer.status !== 429)
        log.wrong.push(`answered ${answer.status}`);
      await sleep(20 + 80 * random());
    }
    for (const id of batch.ids) log.acknowledged.add(id);
    if (again === null && old.length < 200) old.push(batch);
    await sleep(random() * 30);
  }
}
