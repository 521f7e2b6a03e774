import fc from 'fast-check';
import type { TimedRequest } from '@/lib/core/request';
import { flush } from '@/lib/db/flush';
import { ensurePartitions, utcDay } from '@/lib/db/partitions';
import { foldPending } from '@/lib/rollup/foldPending';
import { sealProject } from '@/lib/rollup/seal';
import type { TestDatabase } from './database';
import { anyRequest } from './requests';

/** Long enough after any flush of the test for its chunks to be ready. */
export const soonMs = () => Date.now() + 700_000;

const anyCall = fc.record({
  stage: fc.constantFrom('llm', 'stt', 'own stage'),
  provider: fc.constantFrom('p', null),
  model: fc.constantFrom('m', 'ü "quoted"', null),
  modelRegion: fc.constant(null),
  startOffsetUs: fc.option(fc.integer({ min: 0, max: 9_000_000 })),
  durationUs: fc.integer({ min: 0, max: 9_000_000 }),
  ttftUs: fc.option(fc.integer({ min: 0, max: 9_000_000 })),
  hopUs: fc.constant(null),
  providerQueueUs: fc.constant(null),
  modelUs: fc.option(fc.integer({ min: 0, max: 9_000_000 })),
  attempts: fc.option(fc.integer({ min: 0, max: 5 })),
  inputTokens: fc.option(fc.integer({ min: 0, max: 1_000_000_000 })),
  outputTokens: fc.constant(null),
});

/** Any request, with every field in use somewhere. */
const anyWholeRequest = fc
  .record({
    request: anyRequest,
    calls: fc.array(anyCall, { maxLength: 3 }),
    attributes: fc.option(fc.dictionary(fc.constantFrom('tenant', 'plan', 'käse'), fc.constantFrom('a', 'b', '"{,}'))),
    traceId: fc.option(fc.constantFrom('0af7651916cd43dd8448eb211c80319c', '5bf7651916cd43dd8448eb211c80319d')),
    sessionId: fc.option(fc.constantFrom('s 1', 's,2')),
    quality: fc.option(fc.constantFrom(0, 0.25, 0.7)),
    tokens: fc.option(fc.integer({ min: 0, max: 300_000 })),
    rttUs: fc.option(fc.integer({ min: 0, max: 70_000 })),
    connection: fc.constantFrom('first', 'new', 'reused', null),
  })
  .map(({ request, attributes, tokens, rttUs, ...rest }) => ({
    ...request,
    ...rest,
    ...{ rttUs, serviceUs: rttUs, roundTrips: tokens === null ? null : tokens % 9, inFlight: tokens },
    ...{ inputTokens: tokens, outputTokens: rttUs, cachedInputTokens: tokens },
    attributes: attributes !== null && Object.keys(attributes).length > 0 ? attributes : null,
  }));

/** `n` requests, the same for the same seed; ids are UUIDs, or plain texts. */
export function wholeRequests(seed: number, n: number, ids: 'uuid' | 'text' = 'uuid'): TimedRequest[] {
  return fc
    .sample(anyWholeRequest, { seed, numRuns: n })
    .map((r, i): TimedRequest => ({ ...r, id: ids === 'uuid' ? r.id : `${seed}-${i}` }));
}

const DAY_CHANGE_US = Date.parse('2026-11-20T16:15:00Z') * 1_000; // 22:00 in Kathmandu

/** The same within a few hours around a change of the local day: every tier, few periods. */
export function fewHours(seed: number, n: number): TimedRequest[] {
  return wholeRequests(seed, n).map((r) => ({ ...r, startedAtUs: DAY_CHANGE_US + (r.startedAtUs % (4 * 3_600e6)) }));
}

export async function newProject(database: TestDatabase, slug: string, timeZone = 'Asia/Kathmandu'): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO project (id, slug, name, time_zone) VALUES (gen_random_uuid(), $1, $1, $2) RETURNING id`,
    [slug, timeZone],
  );
  return row!.id;
}

/** Stores requests as ingest does, in flushes of `size`. */
export async function store(projectId: string, requests: readonly TimedRequest[], size = 1_000): Promise<void> {
  await ensurePartitions(new Set(requests.map((r) => utcDay(r.startedAtUs))));
  for (let at = 0; at < requests.length; at += size) {
    const some = requests.slice(at, at + size);
    await flush({ requests: some.map((request) => ({ projectId, request })), ledger: [] });
  }
}

export async function foldAll(): Promise<void> {
  while ((await foldPending()).chunks > 0);
}

/** Seals everything of a project; how many duplicates it removed. */
export async function sealAll(projectId: string): Promise<number> {
  let duplicates = 0;
  for (;;) {
    const sealed = await sealProject(projectId, soonMs());
    duplicates += sealed.duplicates;
    if (sealed.requests + sealed.duplicates === 0) return duplicates;
  }
}

export const storedRollups = (database: TestDatabase, projectId: string) =>
  database.query(
    `SELECT grouping, tier, family, period, block, first_cell, last_cell, encode(body, 'hex') AS body FROM rollup
     WHERE project_id = $1 ORDER BY 1, 2, 3, 4, 5`,
    [projectId],
  );

/** The requests of a project as the view shows them, in order of id, without where they are stored. */
export async function viewedRequests(database: TestDatabase, projectId: string): Promise<object[]> {
  const rows = await database.query<{ row: object }>(
    `SELECT to_jsonb(r) - ARRAY['chunk_id', 'position', 'received_at'] AS row FROM timed_request r
     WHERE project_id = $1 ORDER BY id, started_us`,
    [projectId],
  );
  return rows.map(({ row }) => row);
}
