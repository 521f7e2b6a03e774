import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TimedRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { pool } from '@/lib/db/pool';
import { loadSetup } from '@/lib/queries/loadSetup';
import { parseScope } from '@/lib/queries/scope';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

type Some = { n: number; from: string | null; to: string; vantage: 'client' | 'service' | 'probe'; withModel: number };

async function setupOf(populations: readonly Some[], query = '') {
  const projectId = randomUUID();
  await database.query('INSERT INTO project (id, slug, name) VALUES ($1, $2, $2)', [projectId, projectId]);
  const requests = populations.flatMap(({ n, from, to, vantage, withModel }, p) =>
    Array.from({ length: n }, (_, i): TimedRequest => {
      const dims = { ...aRequest().dims, clientRegion: from, serviceRegion: to, vantage };
      const terms = MEASURED_TERMS.map((term) => (term === 'model' && i < withModel ? 50_000 : null));
      return aRequest({ id: `${p}-${i}`, dims, terms });
    }),
  );
  if (requests.length > 0) await flush({ requests: requests.map((request) => ({ projectId, request })), ledger: [] });
  const viewer: Viewer = { projectId, projectSlug: projectId, userId: null, keyId: 'k', role: 'reader' };
  const input = parseScope(new URLSearchParams(`from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&${query}`));
  return loadSetup({ viewer, input });
}

test('shares by client region; probes are no traffic; each step as far as it is', async () => {
  const setup = await setupOf([
    { n: 300, from: 'eu-west-2', to: 'us-east-1', vantage: 'client', withModel: 150 },
    { n: 100, from: 'eu-west-2', to: 'us-east-1', vantage: 'service', withModel: 100 },
    { n: 50, from: 'us-east-1', to: 'us-east-1', vantage: 'client', withModel: 0 },
    { n: 70, from: 'eu-west-2', to: 'us-east-1', vantage: 'probe', withModel: 0 },
  ]);
  expect(setup).toMatchObject({ n: 450, clientShare: 350 / 450, modelShare: 250 / 450 });
  expect(setup.regions).toEqual([
    {
      ...{ clientRegion: 'eu-west-2', n: 400, clientShare: 0.75, modelShare: 250 / 400 },
      ...{ nextToService: false, hasP99: true },
    },
    { clientRegion: 'us-east-1', n: 50, clientShare: 1, modelShare: 0, nextToService: true, hasP99: false },
  ]);
  expect(setup.steps).toEqual({ client: 'partly', model: 'partly', size: 'done', p99: 'partly' });
});

test('a client next to the service, however much of it, does not make the first step done', async () => {
  const setup = await setupOf([{ n: 400, from: 'us-east-1', to: 'aws:us-east-1', vantage: 'client', withModel: 400 }]);
  expect(setup.regions[0]).toMatchObject({ nextToService: true, clientShare: 1 });
  expect(setup.steps).toEqual({ client: 'partly', model: 'done', size: 'done', p99: 'done' });
});

test('only the service measures: the first step and the sizes are to do', async () => {
  const setup = await setupOf([{ n: 10, from: null, to: 'us-east-1', vantage: 'service', withModel: 10 }]);
  expect(setup.steps).toEqual({ client: 'todo', model: 'done', size: 'todo', p99: 'todo' });
});

test('filters of the scope hold', async () => {
  const populations: Some[] = [
    { n: 30, from: 'eu-west-2', to: 'us-east-1', vantage: 'client', withModel: 15 },
    { n: 20, from: 'us-east-1', to: 'us-east-1', vantage: 'client', withModel: 0 },
  ];
  expect(await setupOf(populations, 'endpoint=/v1/infer&clientRegion=eu-west-2')).toMatchObject({
    n: 30,
    modelShare: 0.5,
  });
  expect(await setupOf(populations, 'endpoint=/other')).toMatchObject({ n: 0, regions: [] });
});

test('without requests everything is to do, and no share is a number', async () => {
  expect(await setupOf([])).toMatchObject({
    ...{ n: 0, clientShare: null, modelShare: null, regions: [] },
    steps: { client: 'todo', model: 'todo', size: 'todo', p99: 'todo' },
  });
});
