// The testbed's requests once more, as spans of four services: posted over HTTP, assembled and folded by the worker, read
// from the API, they say what the same requests as events do, also when the clock of a host is half a second off.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashKey } from '../../lib/auth/keys';
import { MEASURED_TERMS } from '../../lib/core/terms';
import type { Breakdown } from '../../lib/queries/loadBreakdown';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { LEVER_OF, readTruthExpected, TERM_OF, TRUTH_LEVERS, TRUTH_TERMS, toFloors } from '../support/groundTruth';
import { type RunningServer, startServer } from '../support/server';
import { TESTBED_SERVICES, type TestbedService, testbedPosts } from '../support/testbedPosts';

const QUANTILES = ['p50', 'p90', 'p95', 'p99'] as const;
const VARIANTS = ['geography76', 'queue'] as const;
type Variant = (typeof VARIANTS)[number];
type Skew = Partial<Record<TestbedService, number>>;
const SKEWS: readonly Skew[] = TESTBED_SERVICES.flatMap((service) => [{ [service]: -500 }, { [service]: 500 }]);

let database: TestDatabase;
let server: RunningServer;
const nowMs = Date.now();
const breakdowns = new Map<string, Breakdown>();
const projects = new Map<string, string>();
const nameOf = (variant: Variant, skew: Skew = {}) => `${variant}${JSON.stringify(skew)}`;
const keyOf = (name: string, scope: string) => `test_${scope}_${hashKey(name).toString('hex')}`;

/** A project of its own for each way to send a variant. */
async function createProject(name: string): Promise<void> {
  const projectId = randomUUID();
  projects.set(name, projectId);
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, $2, 'p')`, [projectId, projectId]);
  for (const scope of ['ingest', 'read', 'manage']) {
    await database.query(
      `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, $3, $3, $4, 't', '{}')`,
      [randomUUID(), projectId, scope, hashKey(keyOf(name, scope))],
    );
  }
}

async function send(method: string, path: string, { key, body }: { key: string; body?: string }): Promise<unknown> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  expect(answer.status, `${method} ${path}: ${text}\n${server.output()}`).toBe(200);
  return JSON.parse(text);
}

async function post(variant: Variant, skew: Skew): Promise<void> {
  const name = nameOf(variant, skew);
  await createProject(name);
  const { overrides } = toFloors(readTruthExpected(variant));
  await send('PUT', '/api/v1/floors', { key: keyOf(name, 'manage'), body: JSON.stringify({ overrides }) });
  for (const body of testbedPosts(variant, { endMs: nowMs - 60_000, aheadMs: skew })) {
    expect(await send('POST', '/v1/traces', { key: keyOf(name, 'ingest'), body })).toEqual({});
  }
}

const isEmpty = async (table: string) => (await database.query(`SELECT 1 FROM ${table} LIMIT 1`)).length === 0;

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServer();
  for (const variant of VARIANTS) for (const skew of [{}, ...SKEWS]) await post(variant, skew);
  while (!(await isEmpty('span_pending')) || !(await isEmpty('pending'))) await sleep(200);
  const range = { from: new Date(nowMs - 3_600_000).toISOString(), to: new Date(nowMs).toISOString() };
  for (const name of projects.keys()) {
    const scope = new URLSearchParams({ ...range, endpoint: 'POST /v1/infer' });
    const answer = await send('GET', `/api/v1/breakdown?${scope}`, { key: keyOf(name, 'read') });
    breakdowns.set(name, answer as Breakdown);
  }
}, 600_000);
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

function expectNear(actualMs: number | null, ms: number, within: { share: number; slackMs: number; what: string }) {
  expect(actualMs, within.what).not.toBeNull();
  const allowedMs = Math.max(within.share * Math.abs(ms), within.slackMs);
  const message = `${within.what}: ${actualMs} ms, should be ${ms} ms`;
  expect(Math.abs(Number(actualMs) - ms), message).toBeLessThanOrEqual(allowedMs);
}

describe.each(VARIANTS)('%s', (variant) => {
  const expected = readTruthExpected(variant);
  const aligned = () => breakdowns.get(nameOf(variant))!;

  it('has every request once, with the percentiles of the truth', () => {
    expect(aligned().count).toBe(expected.requests);
    for (const q of QUANTILES) {
      const within = (what: string) => ({ share: 0.012, slackMs: 0.05, what: `${what} ${q}` });
      expectNear(aligned().quantiles.e2e[q].ms, expected.e2e[q], within('e2e'));
      expectNear(aligned().quantiles.wait[q].ms, expected.e2e[q], within('wait'));
      for (const term of TRUTH_TERMS) {
        // No replica started in these variants, so no span tells of one
        if (term === 'cold') expect(aligned().quantiles.terms[TERM_OF[term]][q].ms).toBeNull();
        else expectNear(aligned().quantiles.terms[TERM_OF[term]][q].ms, expected.terms[term][q], within(term));
      }
    }
  });

  it('has the gains of the truth', () => {
    for (const term of TRUTH_LEVERS) {
      for (const q of QUANTILES) {
        const gainMs = aligned().gains[LEVER_OF[term]][q].ms;
        if (term === 'cold') expect(gainMs).toBeNull();
        else
          expectNear(gainMs, expected.counterfactual[term].savingMs[q], {
            ...{ share: 0.05, slackMs: 1, what: `gain of ${term} at ${q}` },
          });
      }
    }
  });

  it('names the lever that the events name', () => {
    const intended = expected.intendedLargestAvoidableTerm;
    expect(aligned().largestAvoidable?.levers ?? []).toEqual(intended === 'none' ? [] : [LEVER_OF[intended]]);
  });

  it('leaves at most 5 % unattributed', async () => {
    const [{ most }] = (await database.query<{ most: number }>(
      `SELECT max(unattributed_us::float8 / e2e_us) AS most FROM timed_request WHERE project_id = $1`,
      [projects.get(nameOf(variant))],
    )) as [{ most: number }];
    expect(most).toBeLessThanOrEqual(0.05);
  });

  describe.each(SKEWS.map((skew) => [JSON.stringify(skew), skew] as const))('with clocks off by %s ms', (_, skew) => {
    const skewed = () => breakdowns.get(nameOf(variant, skew))!;

    it('no percentile and no gain changes by more than 5 ms, and the name does not', () => {
      expect(skewed().count).toBe(aligned().count);
      for (const q of QUANTILES) {
        const within = (what: string) => ({ share: 0, slackMs: 5, what: `${what} ${q}` });
        expectNear(skewed().quantiles.wait[q].ms, aligned().quantiles.wait[q].ms!, within('wait'));
        for (const term of TRUTH_TERMS) {
          const before = aligned().quantiles.terms[TERM_OF[term]][q].ms;
          const now = skewed().quantiles.terms[TERM_OF[term]][q].ms;
          if (before === null) expect(now).toBeNull();
          else expectNear(now, before, within(term));
        }
        for (const lever of TRUTH_LEVERS.map((term) => LEVER_OF[term])) {
          const before = aligned().gains[lever][q].ms;
          if (before === null) expect(skewed().gains[lever][q].ms).toBeNull();
          else expectNear(skewed().gains[lever][q].ms, before, within(`gain of ${lever}`));
        }
      }
      expect(skewed().largestAvoidable?.levers).toEqual(aligned().largestAvoidable?.levers);
    });

    it('nor does any term of any request', async () => {
      const columns = MEASURED_TERMS.map((term) => `${term.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}_us`);
      const differences = columns.map((c) => `abs(coalesce(a.${c}, -1000000) - coalesce(b.${c}, -1000000))`).join(', ');
      const [found] = await database.query<{ n: number; most: number }>(
        `SELECT count(*)::int AS n, max(greatest(abs(a.e2e_us - b.e2e_us), ${differences}))::float8 AS most
         FROM timed_request a JOIN timed_request b USING (trace_id) WHERE a.project_id = $1 AND b.project_id = $2`,
        [projects.get(nameOf(variant)), projects.get(nameOf(variant, skew))],
      );
      expect(found!.n).toBe(expected.requests);
      expect(found!.most).toBeLessThanOrEqual(5_000);
    });
  });
});
