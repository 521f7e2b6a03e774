// Mutated posts and queries against a running server. Deterministic by seed, apart from ids and the clock.
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import zlib from 'node:zlib';

export type FuzzReport = {
  answers: Record<string, number>;
  /** Requests that were answered 5xx or not at all, in words. */
  wrong: string[];
  /** Resident memory of the server (MiB) after the first fifth, and at the end. */
  rssMiB: { early: number; late: number };
};

type Random = () => number;
type Sent = { method: string; path: string; headers: Record<string, string>; body: Buffer | null };

function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const ODD_JSON = [
  'null',
  '0',
  '-0',
  '-1',
  '1e999',
  '1e308',
  '-1e308',
  '0.1',
  '9007199254740993',
  '""',
  '"\\u0000"',
].concat([
  '"\\ud800"',
  '"\\udc00x"',
  '[]',
  '{}',
  '[[[[[[[[[[[[]]]]]]]]]]]]',
  '{"__proto__":{"a":1}}',
  'true',
  '"ok"',
  '"error"',
  '"2026-13-45T99:99:99Z"',
  '"2016-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59Z"',
  '1',
  '64',
  '1e6',
  '1e15',
  '"😀é"',
  `"${'x'.repeat(300)}"`,
  `[${'{},'.repeat(70)}{}]`,
  'NaN',
  'undefined',
  "'",
  '{"a":',
  '"constructor"',
]);
const FIELDS = [
  'id',
  'startedAt',
  'endpoint',
  'vantage',
  'outcome',
  'e2eMs',
  'ttftMs',
  'decodeMs',
  'serviceMs',
  'terms',
].concat([
  'calls',
  'weight',
  'quality',
  'attributes',
  'cache',
  'connection',
  'inputTokens',
  'inFlight',
  'traceId',
  'version',
  'clientRegion',
  '__proto__',
  'constructor',
  'unknown',
  '',
]);
const TERM_FIELDS = ['queueMs', 'modelMs', 'networkMs', 'modelHopMs', 'x'];

function eventText(random: Random): string {
  const id = `f-${Math.floor(random() * 2 ** 50).toString(36)}`;
  const fields = [
    `"id":"${id}"`,
    `"startedAt":${Date.now() - Math.floor(random() * 1e5)}`,
    '"endpoint":"chat"',
    '"e2eMs":120',
  ];
  if (random() < 0.5)
    fields.push(`"terms":{"${pick(random, TERM_FIELDS)}":${random() < 0.7 ? '30' : pick(random, ODD_JSON)}}`);
  if (random() < 0.3)
    fields.push(
      `"calls":[{"stage":"llm","durationMs":${random() < 0.7 ? '40' : pick(random, ODD_JSON)},"modelMs":30}]`,
    );
  if (random() < 0.3) fields.push(`"attributes":{"plan":${random() < 0.7 ? '"a"' : pick(random, ODD_JSON)}}`);
  while (random() < 0.5) fields.push(`"${pick(random, FIELDS)}":${pick(random, ODD_JSON)}`);
  return `{${fields.join(',')}}`;
}

function bodyText(random: Random): string {
  const events = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
    random() < 0.1 ? pick(random, ODD_JSON) : eventText(random),
  );
  const shape = random();
  if (shape < 0.6) return `[${events.join(',')}]`;
  if (shape < 0.75) return `{"events":[${events.join(',')}]}`;
  if (shape < 0.9) return events.join('\n');
  return pick(random, [...ODD_JSON, '', '[', ']', '{"events":{}}', `[${'['.repeat(5_000)}`]);
}

/** Bytes changed, cut, doubled or put in somewhere. */
function damage(random: Random, body: Buffer): Buffer {
  if (body.length === 0) return body;
  const at = Math.floor(random() * body.length);
  switch (Math.floor(random() * 4)) {
    case 0: {
      const changed = Buffer.from(body);
      for (let n = 1 + Math.floor(random() * 4); n > 0; n--)
        changed[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      return changed;
    }
    case 1:
      return body.subarray(0, at);
    case 2:
      return Buffer.concat([body, body.subarray(at)]);
    default:
      return Buffer.concat([body.subarray(0, at), Buffer.from(pick(random, ODD_JSON)), body.subarray(at)]);
  }
}

const ENCODERS: Record<string, (body: Buffer) => Buffer> = {
  gzip: (body) => zlib.gzipSync(body, { level: 1 }),
  deflate: (body) => zlib.deflateSync(body, { level: 1 }),
  br: (body) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const BOMB = zlib.gzipSync(Buffer.alloc(30 * 1024 * 1024, ' '));

function mutatedPost(random: Random, key: string): Sent {
  const headers: Record<string, string> = {
    authorization: `Bearer ${random() < 0.95 ? key : pick(random, ['', 'x', 'y'.repeat(600)])}`,
  };
  let body: Buffer = Buffer.from(bodyText(random));
  if (random() < 0.3) body = damage(random, body);
  headers['content-type'] = pick(random, [
    'application/json',
    'application/json',
    'application/x-ndjson',
    'text/plain',
    'a/b',
    '',
  ]);
  if (random() < 0.4) {
    const encoding = pick(random, Object.keys(ENCODERS));
    body = random() < 0.005 ? BOMB : ENCODERS[encoding]!(body);
    if (random() < 0.3) body = damage(random, body);
    headers['content-encoding'] =
      random() < 0.9 ? encoding : pick(random, ['gzip', 'zstd', 'identity', 'gzip, br', '']);
  }
  if (random() < 0.1) headers['idempotency-key'] = pick(random, ['a', 'k'.repeat(256), 'k'.repeat(257), ' ', '%00']);
  if (random() < 0.1)
    headers['x-isochrone-sent-at'] = pick(random, [
      String(Date.now()),
      '0',
      '-1',
      '1e400',
      'now',
      '2026-11-30T00:00:00Z',
      '99999999999999999',
    ]);
  const method = random() < 0.97 ? 'POST' : pick(random, ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);
  const path =
    random() < 0.95 ? '/api/v1/events' : pick(random, ['/api/v1/events?', '/api/v1/events?a=%ff', '/v1/traces']);
  // Node frames the bodies of some methods only when it is told their length
  headers['content-length'] = String(method === 'GET' ? 0 : body.length);
  return { method, path, headers, body: method === 'GET' ? null : body };
}

const PATHS = ['quantiles', 'breakdown', 'requests', 'trust', 'events', 'nothing'];
const PARAMETERS = [
  'from',
  'to',
  'timeZone',
  'endpoint',
  'clientRegion',
  'metric',
  'outcome',
  'vantage',
  'q',
  'step',
  'groupBy',
].concat(['order', 'cursor', 'limit', 'version', 'x']);
const ODD_VALUES = [
  '',
  '0',
  '-1',
  '1e999',
  'NaN',
  '%00',
  '%ff',
  '%F0%9F%98%80',
  'chat',
  'wait',
  'ttft',
  '0.99',
  '0.5,0.99',
  'PT5M',
  'P1D',
].concat([
  'endpoint',
  'UTC',
  'Europe/Berlin',
  'Mars/Base',
  '2026-11-30T00:00:00Z',
  String(Date.now()),
  '9'.repeat(400),
  "';--",
  '../..',
  '%25',
  '__proto__',
  'constructor',
  '[object Object]',
  'slowest',
  'eyJhIjoxfQ',
  '2026-11-30',
  '1',
  'ok',
]);

function mutatedQuery(random: Random, key: string): Sent {
  const parameters = Array.from(
    { length: Math.floor(random() * 5) },
    () => `${pick(random, PARAMETERS)}=${pick(random, ODD_VALUES)}`,
  );
  return {
    method: 'GET',
    path: `/api/v1/${pick(random, PATHS)}?${parameters.join('&')}`.replace(/[^\x21-\x7e]/g, ''),
    headers: { authorization: `Bearer ${random() < 0.98 ? key : 'x'}` },
    body: null,
  };
}

function send(base: URL, agent: Agent, sent: Sent): Promise<number | string> {
  return new Promise((resolve) => {
    const request = httpRequest(
      {
        host: base.hostname,
        port: base.port,
        agent,
        method: sent.method,
        path: sent.path,
        headers: sent.headers,
        timeout: 60_000,
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode!));
        response.on('error', (error) => resolve(error.message));
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer in a minute')));
    request.on('error', (error) => resolve(error.message));
    request.end(sent.body ?? undefined);
  });
}

function rssMiB(pid: number): number {
  const match = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(match?.[1]) / 1_024);
}

/** `posts` and `queries` mutated requests, sixteen at a time. */
export async function runFuzz(
  server: { url: string; pid: number; ingestKey: string; readKey: string },
  options: { posts: number; queries: number; seed: number },
): Promise<FuzzReport> {
  const random = seeded(options.seed);
  const base = new URL(server.url);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const report: FuzzReport = { answers: {}, wrong: [], rssMiB: { early: 0, late: 0 } };
  const total = options.posts + options.queries;
  let done = 0;
  const lane = async () => {
    while (done < total && report.wrong.length < 20) {
      const at = done++;
      if (at === Math.floor(total / 5)) report.rssMiB.early = rssMiB(server.pid);
      const isPost = random() < options.posts / total;
      const sent = isPost ? mutatedPost(random, server.ingestKey) : mutatedQuery(random, server.readKey);
      const answer = await send(base, agent, sent);
      const name = typeof answer === 'number' ? String(answer) : 'none';
      report.answers[name] = (report.answers[name] ?? 0) + 1;
      if (typeof answer === 'number' && answer < 500) continue;
      const body = sent.body === null ? '' : sent.body.toString('latin1').slice(0, 300);
      report.wrong.push(
        `${answer}: ${sent.method} ${sent.path} ${JSON.stringify({ ...sent.headers, authorization: '' })} ${body}`,
      );
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  agent.destroy();
  report.rssMiB.late = rssMiB(server.pid);
  return report;
}
