// A person signs in and reads both pages on demonstration data; the numbers are checked against SQL over raw requests.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dashboard, openDashboard, seriousFindings } from '../support/dashboard';
import type { TestDatabase } from '../support/database';

let dashboard: Dashboard;
let database: TestDatabase;
let page: Page;
let truths: Map<string, Truth>;

beforeAll(async () => {
  dashboard = await openDashboard(4_000);
  ({ database } = dashboard);
  truths = await readTruth();
  page = await dashboard.openPage({ width: 1280, theme: 'light' });
}, 300_000);
afterAll(() => dashboard?.close());

/** The wait of a request of the demonstration: ttft where the endpoint streams. */
const WAIT = `CASE WHEN endpoint IN ('/v1/chat', 'thefastest.ai (real)')
  THEN CASE WHEN ttft_us IS NOT NULL THEN ttft_us WHEN outcome <> 'ok' THEN e2e_us END
  ELSE CASE WHEN outcome <> 'cancelled' OR ttft_us IS NULL THEN e2e_us END END`;

/** Of the wait: ms, but for `n`. */
type Truth = { n: number; p50: number; p99: number; coldStart: number; retry: number };

/** Requests, percentiles of wait and exact gains at p99 (ms) of every endpoint and client region, from raw rows alone. */
async function readTruth(): Promise<Map<string, Truth>> {
  const at = (q: number, what: string) => `percentile_disc(${q}) WITHIN GROUP (ORDER BY ${what}) / 1000.0`;
  const gain = (term: string) => `${at(0.99, 'wait')} - ${at(0.99, `wait - coalesce(${term}, 0)`)}`;
  const rows = await database.query<Record<string, string>>(
    `WITH waits AS MATERIALIZED (
       SELECT endpoint, client_region, cold_start_us, retry_us,
              ${WAIT} AS wait
       FROM timed_request WHERE outcome <> 'error')
     SELECT endpoint, client_region AS region, count(*) AS n, ${at(0.5, 'wait')} AS p50, ${at(0.99, 'wait')} AS p99,
            ${gain('cold_start_us')} AS "coldStart", ${gain('retry_us')} AS retry
     FROM waits WHERE wait IS NOT NULL GROUP BY endpoint, client_region`,
  );
  return new Map(
    rows.map(({ endpoint, region, ...figures }) => {
      const numbers = Object.entries(figures).map(([name, text]) => [name, Number(text)]);
      return [`${endpoint} ${region}`, Object.fromEntries(numbers) as Truth];
    }),
  );
}

/** Floors that differ, so that each is recognised where it is named. A hop floor that high is never named. */
const FLOORS_MS = { geography: 21, connection: 3, queue: 11, routing: 6, coldStart: 13, retry: 1, modelHop: 60_000 };
const TERM_COLUMN: Record<keyof typeof FLOORS_MS, string> = {
  geography: 'network_us',
  connection: 'connection_us',
  queue: 'queue_us',
  routing: 'routing_us',
  coldStart: 'cold_start_us',
  retry: 'retry_us',
  modelHop: 'model_hop_us',
};

/** Gain at p99 (ms) of levers together at FLOORS_MS, request by request over raw rows. */
async function exactGainMs(
  cell: { endpoint: string; region: string },
  levers: readonly (keyof typeof FLOORS_MS)[],
): Promise<number> {
  const saved = levers.map((l) => `greatest(0, coalesce(${TERM_COLUMN[l]}, 0) - ${FLOORS_MS[l] * 1000})`).join(' + ');
  const p99 = (what: string) => `percentile_disc(0.99) WITHIN GROUP (ORDER BY ${what})`;
  const [row] = await database.query<{ ms: string }>(
    `WITH waits AS MATERIALIZED (
       SELECT ${saved} AS saved, ${WAIT} AS wait FROM timed_request
       WHERE outcome <> 'error' AND endpoint = $1 AND client_region = $2)
     SELECT (${p99('wait')} - ${p99('greatest(0, wait - saved)')}) / 1000.0 AS ms FROM waits WHERE wait IS NOT NULL`,
    [cell.endpoint, cell.region],
  );
  return Number(row!.ms);
}

/** "1,234 ms" or "12.4 s" as shown → ms. */
function shownMs(text: string | null): number {
  const match = /^([\d,.]+) (ms|s)$/.exec(text?.trim() ?? '');
  expect(match, `"${text}" is a duration with its unit`).not.toBeNull();
  return Number(match?.[1]?.replaceAll(',', '')) * (match?.[2] === 's' ? 1_000 : 1);
}

/** Within the histogram's 0.6 % and what rounding for display takes. */
function expectShown(text: string | null, truthMs: number, slackMs = 0): void {
  const roundingMs = truthMs >= 10_000 ? 51 : 0.51;
  expect(Math.abs(shownMs(text) - truthMs), `shown ${text}, SQL says ${truthMs} ms`).toBeLessThanOrEqual(
    0.006 * truthMs + roundingMs + slackMs,
  );
}

const inRow = (row: Locator, name: string) => row.getByTestId(name).first().textContent();

describe('signed in', () => {
  beforeAll(async () => {
    await page.goto(`${dashboard.server.url}/demo`);
    await page.getByTestId('sentence').waitFor();
  });

  it('the first screen says that it is a demonstration, and what to fix first', async () => {
    expect(new URL(page.url()).pathname).toBe('/demo');
    expect(await page.getByTestId('demo').textContent()).toMatch(/demo data/);
    const sentence = page.getByTestId('sentence');
    expect(await sentence.textContent()).toMatch(/ from [a-z]{2}-/);
    expect(await sentence.getAttribute('data-reason')).toMatch(/^(named|level|masked|instrument_first)$/);
    expect(shownMs(await page.getByTestId('gain').first().textContent())).toBeGreaterThan(5);
    expect(await page.getByTestId('slo').count()).toBeGreaterThanOrEqual(2);
    await page.screenshot({ path: 'test/browser/overview.png', fullPage: true });
  });

  it('its cells have the counts and percentiles of SQL', async () => {
    const cells = await page.getByTestId('cell').all();
    expect(cells.length).toBe(10);
    for (const cell of cells) {
      const [endpoint, region] = [await cell.getAttribute('data-endpoint'), await cell.getAttribute('data-region')];
      const truth = truths.get(`${endpoint} ${region}`)!;
      expect((await cell.locator('td').first().textContent())?.replaceAll(',', '')).toBe(String(truth.n));
      expectShown(await inRow(cell, 'p50'), truth.p50);
      if (truth.n >= 299) expectShown(await inRow(cell, 'p99'), truth.p99);
      else expect(await inRow(cell, 'p99')).toMatch(/^(≥ |–)/);
    }
  });

  it('has no serious accessibility findings', async () => {
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('the breakdown of a cell has the percentiles and gains of SQL', async () => {
    const [endpoint, region] = ['/v1/chat', 'eu-west-2'];
    await page.goto(
      `${dashboard.server.url}/demo/breakdown?endpoint=${encodeURIComponent(endpoint)}&clientRegion=${region}`,
    );
    const truth = truths.get(`${endpoint} ${region}`)!;
    const duration = page.locator('[data-testid=duration][data-duration=wait]');
    expectShown(await inRow(duration, 'p50'), truth.p50);
    expectShown(await inRow(duration, 'p99'), truth.p99);
    for (const lever of ['coldStart', 'retry'] as const) {
      const row = page.locator(`[data-testid=gain-row][data-lever=${lever}]`);
      expectShown(await inRow(row, 'gain-p99'), truth[lever], Math.max(1, 0.05 * truth[lever]));
    }
    expect(await page.getByTestId('term').count()).toBe(12);
    await page.screenshot({ path: 'test/browser/breakdown.png', fullPage: true });
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('real requests without terms are shown as such', async () => {
    await page.goto(`${dashboard.server.url}/demo/breakdown?endpoint=${encodeURIComponent('thefastest.ai (real)')}`);
    const network = page.locator('[data-testid=term][data-term=network]');
    expect(await network.textContent()).toMatch(/missing/);
    expect(await inRow(network, 'p50')).toBe('–');
    expect(await page.getByTestId('no-terms').textContent()).toMatch(/No terms reported/);
    expect(await page.getByTestId('pair').count()).toBeGreaterThan(1);
  });

  it('the sentence has the gain that SQL computes with the same floors', async () => {
    // Absolute floors, one a lever, so that plain SQL over the terms says what each would save
    const overrides = Object.entries(FLOORS_MS).map(([lever, floorMs]) => ({ lever, floorMs }));
    const status = await page.evaluate(async (body) => {
      const headers = { 'content-type': 'application/json' };
      const put = await fetch('/api/v1/floors?project=demo', { method: 'PUT', headers, body });
      return put.status;
    }, JSON.stringify({ overrides }));
    expect(status).toBe(200);
    await page.goto(`${dashboard.server.url}/demo`);
    const sentence = page.getByTestId('sentence');
    const levers = (await sentence.getAttribute('data-levers'))!.split(' ') as (keyof typeof FLOORS_MS)[];
    expect(await sentence.getAttribute('data-quantile')).toBe('p99');
    const place = (await sentence.getAttribute('data-place'))!;
    expect(await sentence.textContent()).toContain(place);
    const [endpoint, region] = place.split(' from ') as [string, string];
    // Of two that are level it tells the gain of the first
    const isLevel = (await sentence.getAttribute('data-reason')) === 'level';
    const gainMs = await exactGainMs({ endpoint, region }, isLevel ? levers.slice(0, 1) : levers);
    expectShown(await sentence.getByTestId('gain').textContent(), gainMs, Math.max(1, 0.05 * gainMs));
    for (const lever of levers) {
      const words = await page
        .getByTestId('floor')
        .filter({ hasText: `${FLOORS_MS[lever]} ms` })
        .count();
      expect(words, `the floor of ${lever} is named`).toBeGreaterThan(0);
    }
  });

  it('nothing was logged as an error in the browser', () => {
    expect(dashboard.complaints).toEqual([]);
  });
});
