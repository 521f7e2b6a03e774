import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { attributeTrace } from '../../../lib/core/trace/attributeTrace';
import type { Span } from '../../../lib/core/trace/span';
import { writeCounts } from '../../../lib/db/counts';
import { daysAhead, ensurePartitions } from '../../../lib/db/partitions';
import { pool } from '../../../lib/db/pool';
import { Assembly } from '../../../lib/ingest/assembly/assemble';
import { attribute } from '../../../lib/ingest/attribute';
import { appendSpans } from '../../../lib/ingest/otlp/appendSpans';
import { ingest } from '../../../lib/ingest/pipeline';
import { correctWithin } from '../../../lib/rollup/correct';
import { foldPending } from '../../../lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { CHAT, draw, POST } from '../../support/drawing';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await ensurePartitions(daysAhead(Date.now()));
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});
afterEach(async () => {
  for (const table of ['span_pending', 'assembled_trace', 'assembly_lease', 'replica_start', 'broker_use'])
    await database.query(`DELETE FROM ${table}`);
});

/** The root is the request; its input tokens say how many spans it was made of. */
const countSpans: typeof attributeTrace = ({ spans }) => {
  const root = spans.find((span) => span.parentSpanId === null && span.kind !== 'consumer');
  if (!root) return { requests: [], ignored: [{ rootSpanId: null, spans: spans.length, reason: 'no_root' }] };
  const id = `${root.traceId}-${root.spanId}`;
  const event = { id, startedAt: 0, endpoint: root.name, e2eMs: (root.endUs - root.startUs) / 1_000 };
  const { request } = attribute(
    { ...event, inputTokens: spans.length },
    { startedAtUs: root.startUs, defaultVantage: 'service' },
  );
  return { requests: [{ request, rootSpanId: root.spanId, steps: 0, notes: [], skewUs: {} }], ignored: [] };
};
const newAssembly = () => new Assembly({ attribute: countSpans, correct: correctWithin });

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
function traceOf(count: number, { rooted = true } = {}): Span[] {
  const traceId = hex(16);
  const ids = Array.from({ length: count }, () => hex(8));
  const startUs = Date.now() * 1_000 - 2_000_000;
  return ids.map((spanId, i) => ({
    traceId,
    spanId,
    parentSpanId: i === 0 ? (rooted ? null : hex(8)) : ids[0]!,
    name: 'chat',
    kind: 'server',
    startUs: startUs + i,
    endUs: startUs + 1_000_000 - i,
    status: 'unset',
    attributes: { 'http.route': '/chat' },
    resource: { 'service.name': 'gateway' },
    scope: 'test',
    traceState: null,
    events: [],
    links: [],
  }));
}

const requests = (projectId: string) =>
  database.query<{ id: string; spans: string; at: string }>(
    'SELECT id, input_tokens AS spans, started_us AS at FROM timed_request WHERE project_id = $1 ORDER BY id',
    [projectId],
  );
const traces = (projectId: string) =>
  database.query<{ reason: string; outcome: string; spans: number; version: number }>(
    'SELECT reason, outcome, spans, version FROM assembled_trace WHERE project_id = $1 ORDER BY trace_id',
    [projectId],
  );
const pending = async (projectId: string) =>
  (await database.query('SELECT 1 FROM span_pending WHERE project_id = $1', [projectId])).length;
const loseLeases = () => database.query('UPDATE assembly_lease SET held_until = to_timestamp(0)');
async function counted(projectId: string): Promise<Record<string, number>> {
  await writeCounts();
  const rows = await database.query<{ kind: string; count: number }>(
    'SELECT kind, count::int FROM ingest_count WHERE project_id = $1',
    [projectId],
  );
  return Object.fromEntries(rows.map((row) => [row.kind, row.count]));
}

describe('closing', () => {
  it('5 s after root and last span, whatever the order and the number of posts', async () => {
    const projectId = randomUUID();
    const spans = traceOf(7);
    for (const span of [...spans].reverse()) await appendSpans(projectId, [span]);
    const assembly = newAssembly();
    expect(await assembly.step({ aheadMs: 4_000 })).toMatchObject({ traces: 0, open: 1 });
    expect(await requests(projectId)).toEqual([]);
    expect(await assembly.step({ aheadMs: 5_500 })).toMatchObject({ traces: 1, open: 0 });
    expect(await requests(projectId)).toMatchObject([{ id: `${spans[0]!.traceId}-${spans[0]!.spanId}`, spans: '7' }]);
    expect(await traces(projectId)).toEqual([{ reason: 'root_settled', outcome: 'requests', spans: 7, version: 1 }]);
    expect(await pending(projectId)).toBe(0);
    expect(await database.query('SELECT n FROM pending WHERE project_id = $1', [projectId])).toEqual([{ n: 1 }]);
  });

  it('a span within the 5 s keeps it open', async () => {
    const projectId = randomUUID();
    const spans = traceOf(2);
    const assembly = newAssembly();
    await appendSpans(projectId, spans.slice(0, 1));
    await assembly.step();
    await database.query(`UPDATE span_pending SET received_at = received_at - interval '4 s'`);
    await appendSpans(projectId, spans.slice(1));
    expect(await newAssembly().step()).toMatchObject({ open: 0 }); // leased to the first
    expect(await assembly.step({ aheadMs: 3_000 })).toMatchObject({ traces: 0, open: 1 });
    expect(await assembly.step({ aheadMs: 5_500 })).toMatchObject({ traces: 1 });
    expect(await requests(projectId)).toMatchObject([{ spans: '2' }]);
  });

  it('without a root after 60 s, without a request', async () => {
    const projectId = randomUUID();
    await appendSpans(projectId, traceOf(3, { rooted: false }));
    const assembly = newAssembly();
    expect(await assembly.step({ aheadMs: 55_000 })).toMatchObject({ traces: 0, open: 1 });
    expect(await assembly.step({ aheadMs: 61_000 })).toMatchObject({ traces: 1, open: 0 });
    expect(await requests(projectId)).toEqual([]);
    expect(await traces(projectId)).toEqual([{ reason: 'idle', outcome: 'no_root', spans: 3, version: 1 }]);
  });

  it('at 2,000 spans at once; what comes after is counted', async () => {
    const projectId = randomUUID();
    const spans = traceOf(2_010);
    await appendSpans(projectId, spans);
    const assembly = newAssembly();
    expect(await assembly.step()).toMatchObject({ traces: 1 });
    expect(await traces(projectId)).toEqual([{ reason: 'span_limit', outcome: 'requests', spans: 2_000, version: 1 }]);
    expect(await requests(projectId)).toMatchObject([{ spans: '2000' }]);
    expect(await counted(projectId)).toMatchObject({ spansOverLimit: 10, accepted: 1 });
  });
});

describe('each span once', () => {
  it('a batch that was sent twice', async () => {
    const projectId = randomUUID();
    const spans = traceOf(5);
    await appendSpans(projectId, spans);
    await appendSpans(projectId, spans);
    await newAssembly().step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toMatchObject([{ spans: '5' }]);
    expect(await counted(projectId)).toMatchObject({ duplicateSpans: 5, accepted: 1 });
  });

  it('sent again after its trace was closed: nothing new', async () => {
    const projectId = randomUUID();
    const spans = traceOf(5);
    await appendSpans(projectId, spans);
    const assembly = newAssembly();
    await assembly.step({ aheadMs: 6_000 });
    await appendSpans(projectId, spans);
    await assembly.step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toHaveLength(1);
    expect(await traces(projectId)).toMatchObject([{ version: 1, spans: 5 }]);
    expect(await pending(projectId)).toBe(0);
  });

  it('a root that comes after the others were closed gives the request then', async () => {
    const projectId = randomUUID();
    const [root, ...children] = traceOf(4);
    await appendSpans(projectId, children);
    const assembly = newAssembly();
    await assembly.step({ aheadMs: 61_000 });
    expect(await traces(projectId)).toMatchObject([{ outcome: 'no_root', version: 1 }]);
    await appendSpans(projectId, [root!]);
    await assembly.step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toMatchObject([{ spans: '4' }]);
    expect(await traces(projectId)).toEqual([{ reason: 'root_settled', outcome: 'requests', spans: 4, version: 2 }]);
  });
});

describe('late spans', () => {
  it('correct the request that was made without them', async () => {
    const projectId = randomUUID();
    const spans = traceOf(5);
    await appendSpans(projectId, spans.slice(0, 3));
    const assembly = newAssembly();
    await assembly.step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toMatchObject([{ spans: '3' }]);
    await appendSpans(projectId, spans.slice(3));
    await assembly.step({ aheadMs: 61_000 });
    expect(await requests(projectId)).toMatchObject([{ id: `${spans[0]!.traceId}-${spans[0]!.spanId}`, spans: '5' }]);
    expect(await traces(projectId)).toMatchObject([{ spans: 5, version: 2 }]);
    expect(await counted(projectId)).toMatchObject({ lateSpans: 2, correctedRequests: 1, accepted: 1 });
  });
});

describe('halves of a request', () => {
  const traceId = () => hex(16);
  const send = (projectId: string, events: object[]) =>
    ingest({
      ...{ projectId, keyId: randomUUID(), defaultVantage: 'service' as const, idempotencyKey: null, sentAtUs: null },
      ...{ items: events, receivedAtUs: Date.now() * 1_000 },
    });
  const client = (id: string, fields: object = {}) => ({
    ...{ id: `client-${id}`, traceId: id, vantage: 'client', endpoint: 'ask', startedAt: Date.now() - 2_000 },
    ...{ e2eMs: 1_200, terms: { connectionMs: 50 }, clientRegion: 'eu-west-2', ...fields },
  });
  const service = (id: string) => ({
    ...{ id: `service-${id}`, traceId: id, vantage: 'service', endpoint: 'POST /ask', startedAt: Date.now() - 1_900 },
    ...{ e2eMs: 1_000, terms: { queueMs: 200, modelMs: 700 }, serviceRegion: 'us-east-1', model: 'gpt-4o-mini' },
  });
  const rows = (projectId: string) =>
    database.query<Record<string, unknown>>(
      `SELECT id, vantage, endpoint, model, client_region, service_region, e2e_us::int, connection_us::int,
              network_us::int, queue_us::int, model_us::int, unattributed_us::int, service_us::int
       FROM timed_request WHERE project_id = $1 ORDER BY id`,
      [projectId],
    );
  const MERGED = {
    ...{ vantage: 'client', endpoint: 'ask', model: 'gpt-4o-mini', client_region: 'eu-west-2' },
    ...{ service_region: 'us-east-1', e2e_us: 1_200_000, connection_us: 50_000, network_us: 150_000 },
    ...{ queue_us: 200_000, model_us: 700_000, unattributed_us: 100_000, service_us: 1_000_000 },
  };

  it.each(['client first', 'service first', 'one post'])(
    'the client’s e2e with the service’s terms (%s)',
    async (order) => {
      const [projectId, id] = [randomUUID(), traceId()];
      const halves = [client(id), service(id)];
      if (order === 'one post') await send(projectId, halves);
      else for (const half of order === 'client first' ? halves : halves.reverse()) await send(projectId, [half]);
      expect(await rows(projectId)).toHaveLength(2); // both are readable at once
      await newAssembly().step({ aheadMs: 6_000 });
      expect(await rows(projectId)).toEqual([{ id: `client-${id}`, ...MERGED }]);
      expect(await pending(projectId)).toBe(0);
      await foldPending();
      expect(await database.query('SELECT 1 FROM pending WHERE project_id = $1', [projectId])).toEqual([]);
    },
  );

  it('the same vantage twice is two requests; one alone stays as it is and leaves nothing', async () => {
    const [projectId, id] = [randomUUID(), traceId()];
    await send(projectId, [client(id), client(id, { id: 'again' }), client(traceId())]);
    await newAssembly().step({ aheadMs: 61_000 });
    expect(await rows(projectId)).toHaveLength(3);
    expect(await traces(projectId)).toEqual([]);
    expect(await pending(projectId)).toBe(0);
  });

  it('a client’s event and a service’s spans', async () => {
    const projectId = randomUUID();
    const spans = traceOf(4);
    const id = spans[0]!.traceId;
    await appendSpans(projectId, spans);
    await send(projectId, [client(id)]);
    const assembly = newAssembly();
    await assembly.step({ aheadMs: 6_000 });
    const [merged, ...others] = await rows(projectId);
    expect(others).toEqual([]);
    expect(merged).toMatchObject({ id: `client-${id}`, vantage: 'client', e2e_us: 1_200_000, service_us: 1_000_000 });
  });

  it('a client’s event that comes after the spans were closed takes their request in', async () => {
    const projectId = randomUUID();
    const spans = traceOf(4);
    await appendSpans(projectId, spans);
    const assembly = newAssembly();
    await assembly.step({ aheadMs: 6_000 });
    expect(await rows(projectId)).toMatchObject([{ vantage: 'service' }]);
    await send(projectId, [client(spans[0]!.traceId)]);
    await assembly.step({ aheadMs: 61_000 });
    expect(await rows(projectId)).toMatchObject([{ id: `client-${spans[0]!.traceId}`, service_us: 1_000_000 }]);
    expect(await traces(projectId)).toMatchObject([{ version: 2, outcome: 'requests' }]);
  });
});

describe('a consumer that links to its message in another trace', () => {
  function linked() {
    const sender = traceOf(3);
    const { traceId, spanId } = sender[2]!;
    const consumer = traceOf(2).map((span, i): Span => {
      return i === 0 ? { ...span, kind: 'consumer', links: [{ traceId, spanId }] } : span;
    });
    return { sender, consumer };
  }
  const rows = (projectId: string) =>
    database.query<{ outcome: string; spans: number; version: number; trace_id: string; joined_to: string | null }>(
      `SELECT encode(trace_id, 'hex') AS trace_id, outcome, spans, version, encode(joined_to, 'hex') AS joined_to
       FROM assembled_trace WHERE project_id = $1 ORDER BY outcome`,
      [projectId],
    );

  it.each(['sender first', 'consumer first'])('is part of that request (%s)', async (order) => {
    const projectId = randomUUID();
    const { sender, consumer } = linked();
    for (const part of order === 'sender first' ? [sender, consumer] : [consumer, sender]) {
      await appendSpans(projectId, part);
    }
    await newAssembly().step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toMatchObject([{ spans: '5' }]);
    expect(await rows(projectId)).toMatchObject([
      { outcome: 'joined', joined_to: sender[0]!.traceId, trace_id: consumer[0]!.traceId },
      { outcome: 'requests', joined_to: null, spans: 5 },
    ]);
    expect(await pending(projectId)).toBe(0);
  });

  it('also when the sender was closed before, and for what comes of the consumer later still', async () => {
    const projectId = randomUUID();
    const { sender, consumer } = linked();
    const assembly = newAssembly();
    await appendSpans(projectId, sender);
    await assembly.step({ aheadMs: 6_000 });
    await appendSpans(projectId, consumer.slice(0, 1));
    await assembly.step({ aheadMs: 61_000 });
    expect(await rows(projectId)).toMatchObject([{ outcome: 'joined' }, { outcome: 'requests', spans: 4, version: 2 }]);
    await appendSpans(projectId, consumer.slice(1));
    await assembly.step({ aheadMs: 61_000 });
    expect(await rows(projectId)).toMatchObject([{ outcome: 'joined' }, { outcome: 'requests', spans: 5, version: 3 }]);
    expect(await requests(projectId)).toHaveLength(1);
  });

  it('a batch of messages from several traces joins none', async () => {
    const projectId = randomUUID();
    const [a, b] = [linked(), linked()];
    const [first, ...rest] = a.consumer;
    const both = [{ ...first!, links: [...first!.links, ...b.consumer[0]!.links] }, ...rest];
    await appendSpans(projectId, [...a.sender, ...b.sender, ...both]);
    await newAssembly().step({ aheadMs: 6_000 });
    expect((await requests(projectId)).map((r) => r.spans)).toEqual(['3', '3']);
  });
});

describe('what one trace tells of others that were closed before', () => {
  const real = () => new Assembly({ attribute: attributeTrace, correct: correctWithin });
  const columns = `trace_id, cold_start_us::int AS cold, queue_us::int AS queue, model_us::int AS model, e2e_us::int AS e2e`;
  const rows = (projectId: string) =>
    database.query<{ trace_id: string; cold: number | null; queue: number | null }>(
      `SELECT ${columns} FROM timed_request WHERE project_id = $1 ORDER BY started_us`,
      [projectId],
    );
  const REPLICA = { 'service.instance.id': 'w-1', 'host.id': 'gpu-1' };

  // Three wait for the replica, which loads until 3 s and then takes one after the other; a fourth is served by another
  function burst(fromMs: number): Span[][] {
    return [0, 1, 2, 3].map((i) => {
      const served = i === 3 ? { ...REPLICA, 'service.instance.id': 'w-2' } : REPLICA;
      const spans = draw(
        `
      infer     server   api   |-----------------------------------|
        send    producer api   |-|
          run   consumer work                                   |--|
            chat client  work                                   |--|`,
        {
          ...{ columnMs: 100, originUs: (fromMs + i) * 1_000, traceId: hex(16), resources: { work: served } },
          attributes: { infer: POST, send: { 'messaging.system': 'redis' }, run: {}, chat: CHAT },
        },
      );
      return spans;
    });
  }
  const loading = (fromMs: number) =>
    draw('model~load internal work |------------------------------|', {
      ...{ columnMs: 100, originUs: fromMs * 1_000, traceId: hex(16), resources: { work: REPLICA } },
    });

  it('a start of a replica that is told late corrects everyone who waited for that replica, once', async () => {
    const projectId = randomUUID();
    const fromMs = Date.now() - 20_000;
    const waiting = burst(fromMs);
    await appendSpans(projectId, waiting.flat());
    const assembly = real();
    await assembly.step({ aheadMs: 6_000 });
    expect((await rows(projectId)).map((row) => row.cold)).toEqual([null, null, null, null]);
    await foldPending();
    await appendSpans(projectId, loading(fromMs));
    await assembly.step();
    // the load lasted until 3.1 s after the first was sent; then 200 ms, and those sent later waited less for it
    expect((await rows(projectId)).map((row) => row.cold)).toEqual([3_100_000, 3_099_000, 3_098_000, null]);
    for (const row of await rows(projectId)) expect((row.cold ?? 0) + row.queue!).toBe(3_300_000);
    expect(await database.query('SELECT 1 FROM replica_start WHERE NOT applied')).toEqual([]);
    expect(await counted(projectId)).toMatchObject({ reattributed: 3, correctedRequests: 3, accepted: 4 });
    await foldPending();
    await assembly.step();
    await loseLeases();
    await real().step({ aheadMs: 70_000 });
    expect(await rows(projectId)).toHaveLength(4);
    expect(await counted(projectId)).toMatchObject({ reattributed: 3 });
  });

  it('it is applied by the next worker when the one that should have died', async () => {
    const projectId = randomUUID();
    const fromMs = Date.now() - 20_000;
    await appendSpans(projectId, burst(fromMs).flat());
    await real().step({ aheadMs: 6_000 });
    await appendSpans(projectId, loading(fromMs));
    const failing = new Assembly({
      attribute: attributeTrace,
      correct: () => Promise.reject(new Error('killed while correcting')),
    });
    await loseLeases();
    await expect(failing.step()).rejects.toThrow('killed');
    expect((await rows(projectId)).map((row) => row.cold)).toEqual([null, null, null, null]);
    await loseLeases();
    await real().step();
    expect((await rows(projectId)).map((row) => row.cold)).toEqual([3_100_000, 3_099_000, 3_098_000, null]);
  });

  it('calls of a worker whose context was lost are taken back when the broker tells that they are jobs', async () => {
    const projectId = randomUUID();
    const originUs = (Date.now() - 20_000) * 1_000;
    const broker = { 'server.address': 'redis', 'server.port': 6379 };
    const drawn = (text: string) =>
      draw(text, {
        ...{ originUs, traceId: hex(16) },
        attributes: {
          infer: POST,
          evalsha: { 'db.system.name': 'redis', ...broker },
          'tcp.connect': broker,
          chat: CHAT,
        },
      });
    const assembly = real();
    await appendSpans(projectId, drawn('tcp.connect internal work |-|'));
    await appendSpans(projectId, drawn('chat client work |------|'));
    await assembly.step({ aheadMs: 6_000 });
    expect(await rows(projectId)).toHaveLength(1); // as far as anything tells, a request of its own
    await appendSpans(projectId, drawn('infer server api |--------------|\n  evalsha client api |-|'));
    await assembly.step({ aheadMs: 6_000 });
    await assembly.step();
    expect(await rows(projectId)).toMatchObject([{ queue: null, model: null, e2e: 150_000 }]);
    // and from now on they are none to begin with
    await appendSpans(projectId, drawn('chat client work |------|'));
    await assembly.step({ aheadMs: 6_000 });
    expect(await rows(projectId)).toHaveLength(1);
    expect((await traces(projectId)).map((row) => row.outcome).sort()).toEqual([
      'lost_context',
      'lost_context',
      'no_request',
      'requests',
    ]);
  });
});

describe('workers', () => {
  it('a worker that dies: the next one goes on; what was closed stays closed', async () => {
    const projectId = randomUUID();
    const [settled, open] = [traceOf(3), traceOf(3)];
    await appendSpans(projectId, [...settled, ...open.slice(1)]); // one chunk for both
    await newAssembly().step({ aheadMs: 6_000 }); // closes one, then dies with the other open
    expect(await requests(projectId)).toHaveLength(1);
    expect(await pending(projectId)).toBe(1);
    expect(await newAssembly().step({ aheadMs: 6_000 })).toEqual({ chunks: 0, traces: 0, open: 0 }); // still leased
    await loseLeases();
    await appendSpans(projectId, open.slice(0, 1));
    await newAssembly().step({ aheadMs: 6_000 });
    expect((await requests(projectId)).map((r) => r.spans)).toEqual(['3', '3']);
    expect(await pending(projectId)).toBe(0);
  });

  it('a worker that was thought dead stores nothing', async () => {
    const projectId = randomUUID();
    await appendSpans(projectId, traceOf(3));
    const slow = newAssembly();
    await slow.step();
    await loseLeases();
    const next = newAssembly();
    await next.step();
    await database.query(
      `UPDATE assembly_lease SET holder = gen_random_uuid(), epoch = epoch + 1, held_until = now() + interval '1 h'`,
    );
    expect(await next.step({ aheadMs: 6_000 })).toMatchObject({ traces: 0 });
    expect(await slow.step({ aheadMs: 6_000 })).toMatchObject({ traces: 0 });
    expect(await requests(projectId)).toEqual([]);
  });

  it('two at once make each request once', async () => {
    const projects = [randomUUID(), randomUUID(), randomUUID()];
    const workers = [newAssembly(), newAssembly()];
    const sent = projects.map((projectId) => ({ projectId, traces: Array.from({ length: 40 }, () => traceOf(6)) }));
    const spans = sent.flatMap(({ projectId, traces: all }) => all.flat().map((span) => ({ projectId, span })));
    spans.sort(() => Math.random() - 0.5);
    let posting = true;
    const working = workers.map(async (worker, i) => {
      for (let round = 0; posting || round % 10 !== 0; round++) {
        await worker.step({ aheadMs: round % 10 === 0 ? 6_000 : 0 });
        if (round % 7 === i) await loseLeases(); // hands change all the time
      }
    });
    for (let at = 0; at < spans.length; at += 24) {
      await Promise.all(spans.slice(at, at + 24).map(({ projectId, span }) => appendSpans(projectId, [span])));
    }
    posting = false;
    await Promise.all(working);
    for (let round = 0; round < 4; round++) {
      await loseLeases();
      await workers[round % 2]!.step({ aheadMs: 70_000 });
    }
    for (const { projectId, traces: all } of sent) {
      const ids = all.map(([root]) => `${root!.traceId}-${root!.spanId}`).sort();
      expect((await requests(projectId)).map((r) => r.id)).toEqual(ids);
      expect(await pending(projectId)).toBe(0);
    }
  });

  it('a transaction that fails leaves nothing, and the next round does it', async () => {
    const projectId = randomUUID();
    await appendSpans(projectId, traceOf(3));
    const assembly = newAssembly();
    await assembly.step();
    await database.query('ALTER TABLE span_pending RENAME COLUMN day TO day_away');
    await expect(assembly.step({ aheadMs: 6_000 })).rejects.toThrow();
    await database.query('ALTER TABLE span_pending RENAME COLUMN day_away TO day');
    expect(await requests(projectId)).toEqual([]);
    await assembly.step({ aheadMs: 6_000 });
    expect(await requests(projectId)).toHaveLength(1);
  });
});
