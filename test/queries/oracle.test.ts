// Seeded mixes of requests, posted to the real ingest handler over HTTP; what the API's routes then say of gains and of
// what to fix first, against exact arithmetic in SQL (test/support/oracle).
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GET as GET_EXPLANATION } from '@/app/api/v1/breakdown/explanation/route';
import { GET } from '@/app/api/v1/breakdown/route';
import { PUT } from '@/app/api/v1/floors/route';
import { GET as GET_REQUEST } from '@/app/api/v1/requests/[id]/route';
import { authenticateKey, hashKey } from '@/lib/auth/keys';
import { pool } from '@/lib/db/pool';
import { createIngestHandler, prepareIngest } from '@/lib/ingest/handler';
import { type Breakdown, loadBreakdown } from '@/lib/queries/loadBreakdown';
import type { Explanation } from '@/lib/queries/loadExplanation';
import { loadOverview } from '@/lib/queries/loadOverview';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { askOracle, ORACLE_LEVERS, type OracleLever } from '../support/oracle';
import { uniforms } from '../support/simulatedGains';

const HOUR_MS = 3_600_000;
const nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const FLOORS_MS: Record<OracleLever, number> = {
  ...{ geography: 20, connection: 0, queue: 5, routing: 5, coldStart: 0, retry: 0, modelHop: 2 },
};
const keys = { ingest: 'oracle-ingest', manage: 'oracle-manage', read: 'oracle-read' };
const projectId = randomUUID();
let database: TestDatabase;
let server: Server;

async function send(handler: (request: Request) => Promise<Response>, key: string, path: string, body?: unknown) {
  const answer = await handler(
    new Request(`http://localhost${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const said = await answer.json();
  expect(answer.status, JSON.stringify(said)).toBe(200);
  return said;
}

const setFloors = (floorsMs: Record<OracleLever, number>) =>
  send(PUT, keys.manage, '/api/v1/floors', {
    overrides: Object.entries(floorsMs).map(([lever, floorMs]) => ({ lever, floorMs })),
  });

function queryOf(endpoint: string, clientRegion: string): URLSearchParams {
  const query = new URLSearchParams({ endpoint, clientRegion, vantage: 'client' });
  query.set('from', new Date(nowMs - 4 * HOUR_MS).toISOString());
  query.set('to', new Date(nowMs).toISOString());
  return query;
}

async function ask(endpoint: string, clientRegion: string): Promise<Breakdown> {
  const query = queryOf(endpoint, clientRegion);
  return (await send(GET, keys.read, `/api/v1/breakdown?${query}`)) as Breakdown;
}

async function post(events: object[], key = keys.ingest): Promise<void> {
  const { port } = server.address() as AddressInfo;
  for (let at = 0; at < events.length; at += 2000) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(events.slice(at, at + 2000)),
    });
    const said = (await answer.json()) as { accepted: number; rejected: unknown[] };
    expect(said.rejected).toEqual([]);
    expect(said.accepted).toBe(Math.min(2000, events.length - at));
  }
}

type Parts = Partial<
  Record<'connection' | 'network' | 'queue' | 'routing' | 'coldStart' | 'retry' | 'modelHop', number>
>;
type Draw = { parts: Parts; modelMs: number; restMs?: number; decodeMs?: number; given?: object };
type Mix = {
  n: number;
  /** Share of requests in which a term that is not at fault is not measured. */
  nulls: number;
  draw: (u: () => number, i: number) => Draw;
  /** Terms that are always measured. */
  told?: (keyof Parts)[];
  expects: { reason: Breakdown['reason']; levers?: string[]; quantile?: string };
};

/** Ordinary small parts of every request, all within or near their floors. */
const small = (u: () => number): Parts => ({
  ...{ network: 22 + 3 * u(), queue: 4 + 2 * u(), routing: 2 * u(), coldStart: 0, retry: 0, modelHop: 3 * u() },
});

function eventsOf(endpoint: string, mix: Mix, seed: number): object[] {
  const u = uniforms(seed);
  return Array.from({ length: mix.n }, (_, i) => {
    const { parts, modelMs, restMs = 0, decodeMs, given } = mix.draw(u, i);
    const all = [...Object.values(parts), modelMs, restMs].reduce((sum, ms) => sum + ms, 0);
    const terms: Record<string, number> = {};
    for (const [term, ms] of Object.entries(parts))
      if (mix.told?.includes(term as keyof Parts) || u() >= mix.nulls) terms[`${term}Ms`] = ms;
    if (u() >= mix.nulls) terms.modelMs = modelMs;
    return {
      id: `${endpoint}-${seed}-${i}`,
      startedAt: nowMs - 4 * HOUR_MS + Math.floor(((i + u()) * 4 * HOUR_MS) / mix.n),
      ...{ endpoint, vantage: 'client', clientRegion: 'eu-west-2', serviceRegion: 'us-east-1', model: 'm', terms },
      ...{ e2eMs: all + (decodeMs ?? 0), ...(decodeMs === undefined ? {} : { ttftMs: all }) },
      ...given,
    };
  });
}

const outcomeOf = (u: () => number, outcomes: [string, number][]) => {
  let left = u();
  for (const [outcome, share] of outcomes) {
    left -= share;
    if (left < 0) return { outcome };
  }
  return {};
};

const MIXES: Record<string, Mix> = {
  'cold starts': {
    ...{ n: 1500, nulls: 0.4, told: ['coldStart'] },
    draw: (u, i) => ({ parts: { ...small(u), coldStart: i % 50 === 0 ? 3000 : 0 }, modelMs: 150 + 60 * u() }),
    expects: { reason: 'named', levers: ['coldStart'] },
  },
  'a masked pair': {
    ...{ n: 3000, nulls: 0.3, told: ['coldStart', 'queue'] },
    draw: (u, i) => ({
      parts: { ...small(u), coldStart: i % 50 === 0 ? 3000 : 0, queue: i % 50 === 25 ? 3000 : 5 },
      modelMs: 150 + 60 * u(),
    }),
    expects: { reason: 'masked', levers: ['coldStart', 'queue'] },
  },
  'two faults in the same requests': {
    ...{ n: 2000, nulls: 0.5, told: ['coldStart', 'queue'] },
    draw: (u, i) => ({
      parts: { ...small(u), coldStart: i % 20 === 0 ? 1000 : 0, queue: i % 20 === 0 ? 400 : 5 },
      modelMs: 150 + 60 * u(),
    }),
    expects: { reason: 'named', levers: ['coldStart'] },
  },
  'a tie': {
    ...{ n: 1500, nulls: 0.2, told: ['retry', 'routing'] },
    draw: (u) => ({ parts: { ...small(u), retry: 300 + 20 * u(), routing: 305 + 20 * u() }, modelMs: 100 }),
    expects: { reason: 'level', levers: ['retry', 'routing'] },
  },
  'mostly unattributed': {
    ...{ n: 1200, nulls: 0.1 },
    draw: (u) => ({ parts: small(u), modelMs: 50, restMs: 300 + 200 * u() }),
    expects: { reason: 'instrument_first' },
  },
  'fifty requests': {
    ...{ n: 50, nulls: 0.1, told: ['queue'] },
    draw: (u) => ({ parts: { ...small(u), queue: 300 }, modelMs: 100 + 20 * u() }),
    expects: { reason: 'too_few', levers: ['queue'], quantile: 'p90' },
  },
  'weights, errors and cancelled ones': {
    ...{ n: 2500, nulls: 0.3, told: ['modelHop'] },
    draw: (u) => ({
      parts: { ...small(u), modelHop: 150 + 100 * u() },
      modelMs: 100 + 50 * u(),
      given: {
        weight: 1 + Math.floor(9 * u()),
        ...outcomeOf(u, [
          ['error', 0.1],
          ['cancelled', 0.05],
          ['timeout', 0.02],
        ]),
      },
    }),
    expects: { reason: 'named', levers: ['modelHop'] },
  },
  'a stream far away': {
    ...{ n: 1500, nulls: 0.2, told: ['network'] },
    draw: (u) => ({
      parts: { ...small(u), network: 93 + 2 * u() },
      ...{ modelMs: 200 + 55 * u(), decodeMs: 28_000 + 2000 * u() },
      given: outcomeOf(u, [
        ['error', 0.03],
        ['cancelled', 0.1],
      ]),
    }),
    expects: { reason: 'named', levers: ['geography'] },
  },
  'cold starts that clients give up on': {
    ...{ n: 1500, nulls: 0.6, told: ['coldStart'] },
    draw: (u, i) =>
      i % 40 === 0
        ? { parts: { coldStart: 30_000 }, modelMs: 0, given: { outcome: 'timeout' } }
        : { parts: { ...small(u), coldStart: 0 }, modelMs: 300 + 50 * u() },
    expects: { reason: 'named', levers: ['coldStart'] },
  },
  calm: {
    ...{ n: 1500, nulls: 0.1 },
    draw: (u) => ({ parts: small(u), modelMs: 400 + 30 * u() }),
    expects: { reason: 'nothing_worth_fixing' },
  },
};

/** Anything: which terms are slow, how often, how much of it is told. */
function anyMix(u: () => number): Mix {
  const faults = Object.keys(small(u)).map((term) => ({ term, share: u() ** 2, ms: 1000 * u() ** 3 }));
  const isStream = u() < 0.3;
  return {
    ...{ n: 400 + Math.floor(900 * u()), nulls: 0.1 + 0.5 * u(), expects: { reason: 'named' } },
    draw: (v) => {
      const parts: Record<string, number> = { ...small(v) };
      for (const { term, share, ms } of faults) if (v() < share) parts[term]! += ms * (0.5 + v());
      return {
        ...{ parts, modelMs: 80 - 120 * Math.log(1 - v()), restMs: 20 * v() },
        ...(isStream ? { decodeMs: 500 + 4000 * v() } : {}),
        given: {
          weight: v() < 0.5 ? 1 : 1 + Math.floor(4 * v()),
          ...outcomeOf(v, [
            ['error', 0.05],
            ['timeout', 0.03],
            ['cancelled', 0.05],
          ]),
          cache: v() < 0.1 ? 'response' : 'none',
        },
      };
    },
  };
}
const mixing = uniforms(11);
const ANY = Array.from({ length: 6 }, (_, i) => ({ endpoint: `any ${i}`, mix: anyMix(mixing) }));
const REGIONS = ['eu-west-2', 'ap-south-1'];

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'oracle', 'Oracle')`, [projectId]);
  for (const [scope, key] of Object.entries(keys))
    await database.query(
      `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, $3, $3, $4, 'test', '{}')`,
      [randomUUID(), projectId, scope, hashKey(key)],
    );
  const handle = createIngestHandler({ authenticate: authenticateKey });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await prepareIngest();
  await setFloors(FLOORS_MS);
  await post(Object.entries(MIXES).flatMap(([endpoint, mix], i) => eventsOf(endpoint, mix, 100 + i)));
  while ((await foldPending()).chunks > 0);
  // These stay pending: the answer must be the same whether folded or not
  await post(
    ANY.flatMap(({ endpoint, mix }, i) =>
      REGIONS.flatMap((clientRegion, r) =>
        eventsOf(endpoint, mix, 200 + 10 * i + r).map((event) => ({ ...event, clientRegion })),
      ),
    ),
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool().end();
  await database.drop();
});

/** Asks both, and holds every gain against the oracle's. */
async function compare(endpoint: string, clientRegion = 'eu-west-2', floorsMs = FLOORS_MS) {
  const [said, oracle] = [
    await ask(endpoint, clientRegion),
    await askOracle(database, { projectId, endpoint, clientRegion, floorsMs }),
  ];
  expect(said.quantiles.wait.n).toBe(oracle.n);
  for (const option of [...(Object.keys(ORACLE_LEVERS) as OracleLever[]), 'joint'] as const) {
    const gains = option === 'joint' ? said.jointGain : said.gains[option];
    for (const q of ['p50', 'p90', 'p95', 'p99', 'p999'] as const) {
      const value = gains[q];
      if (value.ms === null) continue;
      const exactUs = oracle.atUs.wait[q] - oracle.atUs[option][q];
      expect(value.ms * 1000, `${endpoint}: ${option} at ${q}`).toBeCloseTo(exactUs, 1);
      expect(value.lowMs!).toBeLessThanOrEqual(value.ms);
      if (value.highMs !== null) expect(value.highMs).toBeGreaterThanOrEqual(value.ms);
    }
  }
  for (const q of ['p50', 'p99'] as const) {
    const { ms } = said.quantiles.wait[q];
    if (ms !== null) expect(Math.abs((ms * 1000) / oracle.atUs.wait[q] - 1)).toBeLessThan(0.006);
  }
  return { said, oracle };
}

describe('what was made is what is named', () => {
  it.each(Object.keys(MIXES))('%s', async (endpoint) => {
    const { said } = await compare(endpoint);
    const { reason, levers, quantile = 'p99' } = MIXES[endpoint]!.expects;
    expect(said.reason).toBe(reason);
    if (levers === undefined) return;
    expect([...said.largestAvoidable!.levers].sort()).toEqual(levers);
    expect(said.largestAvoidable!.quantile).toBe(quantile);
  });
});

describe('whatever was sent', () => {
  it.each(ANY.map(({ endpoint }) => endpoint))('%s, from every region', async (endpoint) => {
    for (const region of REGIONS) {
      const { said, oracle } = await compare(endpoint, region);
      const gainUs = (lever: OracleLever) => oracle.atUs.wait.p99 - oracle.atUs[lever].p99;
      const largestUs = Math.max(...(Object.keys(ORACLE_LEVERS) as OracleLever[]).map(gainUs));
      if (said.reason === 'named') {
        const [lever] = said.largestAvoidable!.levers as OracleLever[];
        expect(gainUs(lever!)).toBe(largestUs);
        expect(largestUs).toBeGreaterThan(Math.max(5_000, 0.02 * oracle.atUs.wait.p99));
      }
      if (said.reason === 'nothing_worth_fixing') expect(said.largestAvoidable).toBeNull();
    }
  });
});

it('the sentence changes when cold starts are injected, and back when their floor is raised', async () => {
  const injected: Mix = {
    ...{ n: 60, nulls: 0, expects: { reason: 'named' } },
    draw: (u) => ({ parts: { ...small(u), coldStart: 2500 }, modelMs: 400 + 30 * u() }),
  };
  expect((await compare('calm')).said.reason).toBe('nothing_worth_fixing');
  await post(eventsOf('calm', injected, 999));
  const cold = (await compare('calm')).said;
  expect(cold).toMatchObject({ reason: 'named', largestAvoidable: { levers: ['coldStart'] } });
  expect(cold.floors.coldStart).toMatchObject({ kind: 'override', ms: 0 });
  const raised = { ...FLOORS_MS, coldStart: 2500 };
  await setFloors(raised);
  const after = (await compare('calm', 'eu-west-2', raised)).said;
  expect(after).toMatchObject({ reason: 'nothing_worth_fixing', largestAvoidable: null });
  expect(after.floors.coldStart).toMatchObject({ kind: 'override', ms: 2500 });
});

it('the explanation of a sentence is of the same requests: its gain, its tail, what was taken off each', async () => {
  await setFloors(FLOORS_MS);
  const { said } = await compare('a masked pair');
  const query = queryOf('a masked pair', 'eu-west-2');
  query.set('explain', said.largestAvoidable!.levers.join(','));
  const { explanation } = (await send(GET_EXPLANATION, keys.read, `/api/v1/breakdown/explanation?${query}`)) as {
    explanation: Explanation;
  };
  expect(explanation.gainMs).toBeCloseTo(said.largestAvoidable!.gainMs, 6);
  const rows = await database.query<{ id: string; ms: number; saved: number }>(
    `SELECT id, e2e_us / 1000.0::float8 AS ms,
       (coalesce(cold_start_us, 0) + greatest(0, coalesce(queue_us, 0) - 5000)) / 1000.0::float8 AS saved
     FROM timed_request WHERE project_id = $1 AND endpoint = 'a masked pair' ORDER BY e2e_us DESC LIMIT 10`,
    [projectId],
  );
  for (const [i, row] of rows.entries())
    expect(explanation.requests[i]).toMatchObject({ id: row.id, waitMs: row.ms, savedMs: row.saved });
});

it('waits that were asked for name nothing; the same waits for a broker name the queue', async () => {
  await setFloors(FLOORS_MS);
  const delayed = (queueKind: 'broker' | 'scheduled'): Mix => ({
    ...{ n: 3000, nulls: 0, expects: { reason: 'named' } },
    draw: (u, i) => ({
      parts: { ...small(u), ...(i % 50 === 0 ? { queue: 3000 } : {}) },
      modelMs: 300 + 100 * u(),
      given: i % 50 === 0 ? { queueKind } : {},
    }),
  });
  await post(eventsOf('delayed', delayed('scheduled'), 5));
  await post(eventsOf('backlogged', delayed('broker'), 5));
  while ((await foldPending()).chunks > 0);
  const [asked, stuck] = [await ask('delayed', 'eu-west-2'), await ask('backlogged', 'eu-west-2')];
  expect(asked).toMatchObject({ reason: 'nothing_worth_fixing', largestAvoidable: null });
  expect(asked.quantiles).toEqual(stuck.quantiles);
  expect(asked.quantiles.wait.p99.ms!).toBeGreaterThan(3000);
  expect(asked.gains.queue.p99.ms!).toBeLessThan(2);
  expect(stuck).toMatchObject({ reason: 'named', largestAvoidable: { levers: ['queue'] } });
  expect(stuck.gains.queue.p99.ms!).toBeGreaterThan(2500);
  // As it was sent, until the request itself is looked at
  const one = new URLSearchParams({ startedAt: new Date(nowMs - 4 * HOUR_MS).toISOString() });
  const read = (request: Request) => GET_REQUEST(request, { params: Promise.resolve({ id: 'delayed-5-0' }) });
  expect(await send(read, keys.read, `/api/v1/requests/delayed-5-0?${one}`)).toMatchObject({ queueKind: 'scheduled' });
});

it('a slow batch endpoint with few requests never hides the one that users wait for', async () => {
  const slug = 'batch';
  const other = randomUUID();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, $2, 'Batch')`, [other, slug]);
  const key = `${slug}-ingest`;
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, $3, 'ingest', $4, 'test', '{}')`,
    [randomUUID(), other, key, hashKey(key)],
  );
  const chat: Mix = {
    ...{ n: 2940, nulls: 0.2, told: ['coldStart'], expects: { reason: 'named' } },
    draw: (u, i) => ({ parts: { ...small(u), coldStart: i % 40 === 0 ? 4000 : 0 }, modelMs: 300 + 100 * u() }),
  };
  const batch: Mix = {
    ...{ n: 60, nulls: 0.2, told: ['queue'], expects: { reason: 'named' } },
    draw: (u) => ({ parts: { ...small(u), queue: 60_000 + 30_000 * u() }, modelMs: 20_000 }),
  };
  await post([...eventsOf('chat', chat, 1), ...eventsOf('nightly', batch, 2)], key);
  const viewer = { projectId: other, projectSlug: slug, userId: null, keyId: 'test', role: 'reader' as const };
  const query = queryOf('chat', 'eu-west-2');
  for (const name of ['endpoint', 'clientRegion']) query.delete(name);
  const overview = await loadOverview({ viewer, input: parseScope(query) });
  expect(overview.headline!.cell.endpoint).toBe('chat');
  expect(overview.headline!.breakdown.largestAvoidable!.levers).toEqual(['coldStart']);
  expect(overview.cells[0]!.comesInside).toBeGreaterThan(60);
  const breakdown = await loadBreakdown({ viewer, input: parseScope(queryOf('chat', 'eu-west-2')) });
  expect(overview.headline!.breakdown.largestAvoidable).toEqual(breakdown.largestAvoidable);
  // The mean of all would be about 3 s; it is nowhere in the answer
  expect(JSON.stringify(overview)).not.toMatch(/"mean/);
});
