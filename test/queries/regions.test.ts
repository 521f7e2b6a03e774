import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GET } from '@/app/api/v1/regions/route';
import { hashKey } from '@/lib/auth/keys';
import type { TimedRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import type { Viewer } from '@/lib/core/viewer';
import { flush } from '@/lib/db/flush';
import { pool } from '@/lib/db/pool';
import { loadRegions } from '@/lib/queries/loadRegions';
import { parseScope } from '@/lib/queries/scope';
import { foldPending } from '@/lib/rollup/foldPending';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aRequest } from '../support/requests';

let database: TestDatabase;
let viewer: Viewer;
let empty: Viewer;
const range = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
const PAIRS = [
  ['eu-west-2', 'us-east-1', 90_000],
  ['us-east-1', 'us-east-1', 12_000],
  ['office-7', 'us-east-1', 40_000],
] as const;

/** `/v1/infer` from three client regions, and more requests of an endpoint that never tells where it runs. */
const requests: TimedRequest[] = Array.from({ length: 2_400 }, (_, i) => {
  const dims = aRequest().dims;
  const [clientRegion, serviceRegion, network] = PAIRS[i % PAIRS.length]!;
  const model = 100_000 + ((i * 7919) % 50_000);
  const placed = { dims: { ...dims, clientRegion, serviceRegion }, e2eUs: network + model };
  const terms = MEASURED_TERMS.map((term) => (term === 'network' ? network : term === 'model' ? model : null));
  if (i % 2 === 0) return aRequest({ id: `r${i}`, ...placed, terms });
  return aRequest({ id: `r${i}`, dims: { ...dims, endpoint: '/elsewhere', serviceRegion: null }, e2eUs: model });
});

async function viewerOf(slug: string): Promise<Viewer> {
  const projectId = randomUUID();
  await database.query('INSERT INTO project (id, slug, name) VALUES ($1, $2, $2)', [projectId, slug]);
  await database.query(
    `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
     VALUES (gen_random_uuid(), $1, 'read', 'read', $2, 'iso', '{}')`,
    [projectId, hashKey(`read_${slug}`)],
  );
  return { projectId, projectSlug: slug, userId: null, keyId: 'k', role: 'reader' };
}

beforeAll(async () => {
  database = await createTestDatabase();
  viewer = await viewerOf('regions');
  empty = await viewerOf('empty');
  const some = requests.map((request) => ({ projectId: viewer.projectId, request }));
  await flush({ requests: some.slice(0, 1_800), ledger: [] });
  while ((await foldPending()).chunks > 0);
  await flush({ requests: some.slice(1_800), ledger: [] }); // stays pending
});
afterAll(async () => {
  await pool().end();
  await database.drop();
});

const load = (query = '', who = viewer) =>
  loadRegions({ viewer: who, input: parseScope(new URLSearchParams(`${range}&${query}`)) });

test('pairs have the counts and percentiles of SQL; the endpoint that tells its regions comes first', async () => {
  const regions = await load();
  expect(regions).toMatchObject({ endpoint: '/v1/infer', otherEndpoints: [{ endpoint: '/elsewhere', n: 1200 }] });
  expect(regions.pairs).toHaveLength(3);
  for (const pair of regions.pairs) {
    const [truth] = await database.query<{ n: number; p99: number; network: number }>(
      `SELECT count(*)::int AS n, (percentile_disc(0.99) WITHIN GROUP (ORDER BY e2e_us) / 1000.0)::float8 AS p99,
         (percentile_disc(0.5) WITHIN GROUP (ORDER BY network_us) / 1000.0)::float8 AS network
       FROM timed_request WHERE project_id = $1 AND endpoint = '/v1/infer' AND client_region = $2`,
      [viewer.projectId, pair.clientRegion],
    );
    expect(pair.n).toBe(truth!.n);
    expect(Math.abs(pair.wait.p99.ms! / truth!.p99 - 1)).toBeLessThan(0.0055);
    expect(Math.abs(pair.network.p50.ms! / truth!.network - 1)).toBeLessThan(0.0055);
  }
  const office = regions.pairs.find((pair) => pair.clientRegion === 'office-7');
  expect(office?.roundTrip).toBeNull();
  expect(regions.places.map((place) => place.name).sort()).toEqual(['eu-west-2', 'us-east-1']);
});

test('placements are ranked for the region that is far, and only for it', async () => {
  const { placements } = await load();
  expect(placements.map((one) => one.clientRegion)).toEqual(['eu-west-2']);
  const [best] = placements[0]!.scenarios;
  expect(best).toMatchObject({ toRegion: 'eu-west-2', withModel: true, losing: false });
  expect(best!.gain.p99.ms!).toBeGreaterThan(60);
  expect(best!.gain.p99.ms!).toBeLessThanOrEqual(90);
});

test('an endpoint asked for is the one; filters hold; over HTTP it is the same answer', async () => {
  expect(await load('endpoint=/elsewhere')).toMatchObject({ endpoint: '/elsewhere', placements: [] });
  const one = await load('clientRegion=us-east-1');
  expect(one.pairs.map((pair) => pair.clientRegion)).toEqual(['us-east-1']);
  const headers = { authorization: 'Bearer read_regions' };
  const answer = await GET(new Request(`http://localhost/api/v1/regions?${range}`, { headers }));
  const { asOf: _, ...body } = (await answer.json()) as Record<string, unknown>;
  const { asOf: __, ...loaded } = await load();
  expect(body).toEqual(JSON.parse(JSON.stringify(loaded)));
});

test('without requests there is nothing to show', async () => {
  expect(await load('', empty)).toMatchObject({ endpoint: null, pairs: [], placements: [], places: [] });
});
