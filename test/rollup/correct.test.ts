import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAMILIES, formatKey } from '@/lib/core/cell';
import type { TimedRequest } from '@/lib/core/request';
import { pool } from '@/lib/db/pool';
import { listAllRaw, readRaw } from '@/lib/db/readRaw';
import { readRequestById } from '@/lib/db/readRequests';
import { withSnapshot } from '@/lib/db/snapshot';
import { type Correction, correctRequests } from '@/lib/rollup/correct';
import { foldPending } from '@/lib/rollup/foldPending';
import { compactAll, rebuildProject } from '@/lib/rollup/rebuildProject';
import { repairCells } from '@/lib/rollup/repair';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { fewHours, foldAll, newProject, sealAll, store, storedRollups, viewedRequests } from '../support/rollups';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const sorted = (requests: readonly TimedRequest[]) => [...requests].sort((a, b) => (a.id < b.id ? -1 : 1));

async function allRaw(projectId: string): Promise<TimedRequest[]> {
  const chunks = await readRaw(pool(), projectId, { heads: await listAllRaw(pool(), projectId), withAttributes: true });
  return sorted(chunks.flatMap((chunk) => chunk.rows!.map((row) => row.request)));
}

async function expectEqualToRebuild(projectId: string): Promise<void> {
  await foldAll();
  while (await repairCells());
  await compactAll(projectId);
  const incremental = await storedRollups(database, projectId);
  await rebuildProject(projectId);
  expect(incremental.length).toBeGreaterThan(10);
  expect(incremental).toEqual(await storedRollups(database, projectId));
}

/** Makes a request an error that took 7 ms longer: other cells, other extremes. */
const failed = (request: TimedRequest): TimedRequest => ({
  ...request,
  outcome: 'error',
  e2eUs: request.e2eUs + 7_000,
  decodeUs: request.ttftUs === null ? request.decodeUs : request.e2eUs + 7_000 - request.ttftUs,
});
const correction = (request: TimedRequest, change: Correction['change']): Correction => ({
  id: request.id,
  startedAtUs: request.startedAtUs,
  change,
});

const STATES: [string, (projectId: string) => Promise<void>][] = [
  ['pending', async () => {}],
  ['folded', foldAll],
  [
    'sealed',
    async (projectId) => {
      await foldAll();
      await sealAll(projectId);
    },
  ],
  ['partly folded', async () => void (await foldPending({ limit: 3 }))],
];

test.each(STATES)(
  'corrected, changed again, and removed while %s: raw and roll-ups are as if sent so',
  async (state, bring) => {
    const projectId = await newProject(database, `state-${state.replace(' ', '-')}`);
    const all = fewHours(11, 160);
    await store(projectId, all, 30);
    await bring(projectId);
    const [changed, twice, removed] = [all.slice(0, 30), all.slice(30, 45), all.slice(45, 55)];
    const results = await correctRequests(projectId, [
      ...[...changed, ...twice].map((r) => correction(r, failed)),
      ...removed.map((r) => correction(r, () => null)),
      correction(all[0]!, (r) => ({ ...r, quality: 1 })),
    ]);
    expect(new Set(results)).toEqual(new Set(['corrected']));
    await foldPending({ limit: 1 });
    await correctRequests(
      projectId,
      twice.map((r) => correction(r, (now) => ({ ...failed(now), outcome: 'timeout' }))),
    );
    const wanted = sorted([
      ...changed.map((r, i) => ({ ...failed(r), quality: i === 0 ? 1 : r.quality })),
      ...twice.map((r): TimedRequest => ({ ...failed(failed(r)), outcome: 'timeout' })),
      ...all.slice(55),
    ]);
    expect(await allRaw(projectId)).toEqual(wanted);
    expect(await viewedRequests(database, projectId)).toHaveLength(wanted.length);
    await expectEqualToRebuild(projectId);
    await sealAll(projectId);
    expect(await allRaw(projectId)).toEqual(wanted);
    expect(await database.query('SELECT 1 FROM hot_chunk WHERE project_id = $1', [projectId])).toHaveLength(0);
    await expectEqualToRebuild(projectId);
  },
);

test('a read right after a correction has it, folded or not', async () => {
  const projectId = await newProject(database, 'read');
  const [first, second, ...rest] = fewHours(12, 50);
  await store(projectId, [first!, ...rest]);
  await foldAll();
  await store(projectId, [second!]);
  const errors = () =>
    withSnapshot(projectId, async (snapshot) => {
      const range = { fromUs: first!.startedAtUs - 5 * 86_400e6, toUs: first!.startedAtUs + 5 * 86_400e6 };
      const { periods } = await snapshot.read({ ...range, grouping: 'all', families: ['counts'], finest: 'day' });
      return Object.fromEntries(
        periods.get(0)!.map(({ key, set }) => [formatKey(key), (set.get('counts') as { counts: number[] }).counts[0]]),
      );
    });
  const before = Object.values(await errors()).reduce((sum, n) => sum! + n!, 0);
  expect(before).toBe(50);
  await errors(); // what is pending is cached
  await correctRequests(projectId, [correction(first!, () => null), correction(second!, () => null)]);
  expect(Object.values(await errors()).reduce((sum, n) => sum! + n!, 0)).toBe(48);
  expect(await readRequestById(projectId, { id: second!.id, aroundUs: second!.startedAtUs })).toBeNull();
});

test('quality alone moves its own sums and no other roll-up; nobody’s id and no change are told', async () => {
  const projectId = await newProject(database, 'quality');
  const all = fewHours(13, 40);
  await store(projectId, all);
  await foldAll();
  const before = await storedRollups(database, projectId);
  const rated = (request: TimedRequest) => ({ ...request, quality: 0.5 });
  expect(await correctRequests(projectId, [correction(all[0]!, rated), correction(all[1]!, (r) => r)])).toEqual([
    'corrected',
    'unchanged',
  ]);
  expect(await correctRequests(projectId, [{ id: 'nobody', startedAtUs: all[0]!.startedAtUs, change: rated }])).toEqual(
    ['not_found'],
  );
  const after = await storedRollups(database, projectId);
  const others = (rows: typeof after) => rows.filter(({ family }) => family !== FAMILIES.indexOf('quality'));
  expect(others(after)).toEqual(others(before));
  expect(after).not.toEqual(before);
  expect(await database.query('SELECT 1 FROM rollup_repair WHERE project_id = $1', [projectId])).toHaveLength(0);
  expect(await database.query('SELECT 1 FROM pending WHERE project_id = $1', [projectId])).toHaveLength(0);
  expect((await readRequestById(projectId, { id: all[0]!.id, aroundUs: all[0]!.startedAtUs }))!.quality).toBe(0.5);
  await expectEqualToRebuild(projectId);
});

test('an id that was stored twice is corrected once', async () => {
  const projectId = await newProject(database, 'doubled');
  const all = fewHours(14, 30);
  await store(projectId, all);
  await store(projectId, all.slice(0, 5));
  await foldAll();
  await correctRequests(projectId, [correction(all[0]!, failed)]);
  await foldAll();
  expect(await sealAll(projectId)).toBe(4);
  expect(await allRaw(projectId)).toEqual(sorted([failed(all[0]!), ...all.slice(1)]));
  await expectEqualToRebuild(projectId);
});

test('corrections beside folds and seals, from two sides: each lands once', async () => {
  const projectId = await newProject(database, 'beside');
  const all = fewHours(15, 120);
  await store(projectId, all, 20);
  const worker = async () => {
    for (let i = 0; i < 12; i++) {
      await foldPending({ limit: 3 });
      await sealAll(projectId);
    }
  };
  const corrector = async (mine: TimedRequest[]) => {
    for (let at = 0; at < mine.length; at += 10) {
      const some = mine.slice(at, at + 10);
      const results = await correctRequests(
        projectId,
        some.map((r) => correction(r, failed)),
      );
      expect(new Set(results)).toEqual(new Set(['corrected']));
    }
  };
  await Promise.all([worker(), corrector(all.slice(0, 50)), corrector(all.slice(50, 100))]);
  await foldAll();
  await sealAll(projectId);
  expect(await allRaw(projectId)).toEqual(sorted([...all.slice(0, 100).map(failed), ...all.slice(100)]));
  await expectEqualToRebuild(projectId);
});
