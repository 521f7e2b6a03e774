// The testbed's truth, posted over HTTP with its floors, against what the API answers about it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Breakdown } from '../../lib/queries/loadBreakdown';
import { createTestDatabase, type TestDatabase } from '../support/database';
import {
  LEVER_OF,
  readTruthExpected,
  readTruthRows,
  TERM_OF,
  TRUTH_LEVERS,
  TRUTH_TERMS,
  toEvents,
  toFloors,
  VARIANTS,
  type Variant,
} from '../support/groundTruth';
import { INITIAL, type RunningServer, startServer } from '../support/server';

const QUANTILES = ['p50', 'p90', 'p95', 'p99'] as const;
let database: TestDatabase;
let server: RunningServer;
const nowMs = Date.now();
const endpointOf = (variant: Variant) => `/v1/infer/${variant}`;
const eventsOf = (variant: Variant) => toEvents(readTruthRows(variant), { nowMs, endpoint: endpointOf(variant) });

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServer();
  const floors = VARIANTS.flatMap((variant) => toFloors(readTruthExpected(variant), endpointOf(variant)).overrides);
  await send('PUT', '/api/v1/floors', { key: INITIAL.ISOCHRONE_INIT_MANAGE_KEY, body: { overrides: floors } });
});
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

async function send(method: string, path: string, { key, body }: { key: string; body?: unknown }): Promise<unknown> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${method} ${path}: ${text}\n${server.output()}`).toBe(200);
  return JSON.parse(text);
}

const postEvents = (variant: Variant) =>
  send('POST', '/api/v1/events', { key: INITIAL.ISOCHRONE_INIT_INGEST_KEY, body: eventsOf(variant) });

async function breakdownOf(variant: Variant): Promise<Breakdown> {
  const scope = new URLSearchParams({
    from: new Date(nowMs - 3_600_000).toISOString(),
    to: new Date(nowMs).toISOString(),
    endpoint: endpointOf(variant),
  });
  const key = INITIAL.ISOCHRONE_INIT_READ_KEY;
  return (await send('GET', `/api/v1/breakdown?${scope}`, { key })) as Breakdown;
}

/** Within `share` of the truth or `slackMs`, whichever is wider. */
function expectNear(
  actualMs: number | null,
  truth: { ms: number; share: number; slackMs: number; what: string },
): void {
  expect(actualMs, truth.what).not.toBeNull();
  const allowedMs = Math.max(truth.share * Math.abs(truth.ms), truth.slackMs);
  const message = `${truth.what}: ${actualMs} ms, the truth is ${truth.ms} ms`;
  expect(Math.abs(Number(actualMs) - truth.ms), message).toBeLessThanOrEqual(allowedMs);
}

describe.each(VARIANTS)('%s', (variant) => {
  const expected = readTruthExpected(variant);
  let breakdown: Breakdown;

  it('is read whole right after the 2xx, and the same batch again changes nothing', async () => {
    expect(await postEvents(variant)).toEqual({ accepted: expected.requests, duplicates: 0, rejected: [] });
    breakdown = await breakdownOf(variant);
    expect(breakdown.count).toBe(expected.requests);
    expect(await postEvents(variant)).toEqual({ accepted: 0, duplicates: expected.requests, rejected: [] });
    const { asOf: _before, ...before } = breakdown;
    const { asOf: _after, ...after } = await breakdownOf(variant);
    expect(after).toEqual(before);
  });

  it('has the percentiles of wait, e2e and every term', () => {
    for (const q of QUANTILES) {
      const near = (actualMs: number | null, ms: number, what: string) =>
        expectNear(actualMs, { ms, share: 0.006, slackMs: 0.05, what: `${what} ${q}` });
      near(breakdown.quantiles.e2e[q].ms, expected.e2e[q], 'e2e');
      near(breakdown.quantiles.wait[q].ms, expected.e2e[q], 'wait');
      for (const term of TRUTH_TERMS)
        near(breakdown.quantiles.terms[TERM_OF[term]][q].ms, expected.terms[term][q], term);
    }
    expect(breakdown.quantiles.e2e.maxMs).toBeCloseTo(expected.e2e.max, 3);
  });

  it('has the gains of every lever at p50 and p99', () => {
    for (const term of TRUTH_LEVERS)
      for (const q of ['p50', 'p99'] as const) {
        const ms = expected.counterfactual[term].savingMs[q];
        const actual = breakdown.gains[LEVER_OF[term]][q].ms;
        expectNear(actual, { ms, share: 0.05, slackMs: 1, what: `gain of ${term} at ${q}` });
      }
  });

  it('names the right lever', () => {
    const intended = expected.intendedLargestAvoidableTerm;
    if (intended === 'none') {
      expect(breakdown.largestAvoidable).toBeNull();
      expect(breakdown.reason).toBe('nothing_worth_fixing');
      return;
    }
    expect(breakdown.largestAvoidable?.levers).toEqual([LEVER_OF[intended]]);
    expect(breakdown.largestAvoidable?.quantile).toBe('p99');
    expect(breakdown.reason).toBe('named');
  });

  it('has an anatomy whose parts add up to its wait', () => {
    expect(breakdown.anatomy.length).toBeGreaterThan(10);
    for (const point of breakdown.anatomy) {
      const { decode, ...beforeOutput } = point.terms;
      const sum = Object.values(beforeOutput).reduce((total: number, ms) => total + (ms ?? 0), decode ?? 0);
      expect(sum, `p${point.percentile}`).toBeCloseTo(Number(point.waitMs), 2);
    }
  });
});

it('shows cold starts above p98 in the anatomy of "cold", and none at p50', async () => {
  const { anatomy } = await breakdownOf('cold');
  const coldAt = (is: (percentile: number) => boolean) =>
    anatomy.filter((point) => is(point.percentile)).map((point) => Number(point.terms.coldStart));
  const above = coldAt((percentile) => percentile >= 98);
  expect(above.length).toBeGreaterThan(0);
  for (const ms of above) expect(ms).toBeGreaterThan(100);
  const middle = coldAt((percentile) => percentile === 50);
  expect(middle.length).toBe(1);
  for (const ms of middle) expect(ms).toBeLessThan(1);
});
