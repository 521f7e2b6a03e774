// Requests, Regions, Trust, Set-up and Members in a real browser: what a person reads is what the API and the export say.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCount, formatMs, formatRatio, formatValue } from '@/lib/charts/formatMs';
import type { Regions } from '@/lib/queries/loadRegions';
import type { RequestDetail } from '@/lib/queries/loadRequest';
import type { RequestPage } from '@/lib/queries/loadRequests';
import type { Setup } from '@/lib/queries/loadSetup';
import type { Trust } from '@/lib/queries/loadTrust';
import { type Dashboard, openDashboard, seriousFindings } from '../support/dashboard';

let dashboard: Dashboard;
let page: Page;
let url: string;
/** Ends in the past, so that page and API are asked for the very same requests. */
let range: string;

beforeAll(async () => {
  dashboard = await openDashboard(4_000);
  url = dashboard.server.url;
  page = await dashboard.openPage({ width: 1440, theme: 'light' });
  const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const at = (ms: number) => new Date(ms).toISOString();
  range = `from=${at(hourMs - 6 * 86_400_000)}&to=${at(hourMs - 3_600_000)}`;
}, 300_000);
afterAll(() => dashboard?.close());

async function api<T>(path: string, query = range): Promise<T> {
  const answer = await page.request.get(`${url}/api/v1/${path}?project=demo&${query}`);
  expect(answer.status(), path).toBe(200);
  return (await answer.json()) as T;
}
const textOf = async (row: Locator, id: string) => (await row.getByTestId(id).first().textContent())?.trim();

describe('Requests', () => {
  it('shows the rows of the API in its order, and the export holds them too', async () => {
    const query = `${range}&endpoint=%2Fv1%2Fchat`;
    const list = await api<RequestPage>('requests', query);
    await page.goto(`${url}/demo/requests?${query}`);
    const rows = await page.getByTestId('request').all();
    expect(rows.length).toBe(list.rows.length);
    for (const [index, row] of rows.entries()) {
      const truth = list.rows[index]!;
      expect(await row.getAttribute('data-id')).toBe(truth.id);
      expect(await textOf(row, 'e2e')).toBe(formatMs(truth.e2eMs));
      expect(await textOf(row, 'wait')).toBe(`${truth.censored ? '> ' : ''}${formatMs(truth.waitMs)}`);
    }
    const csv = await (await page.request.get(`${url}/api/v1/requests?project=demo&${query}&format=csv`)).text();
    const [head, ...lines] = csv.trim().split('\r\n');
    const column = (line: string, name: string) => line.split(',')[head!.split(',').indexOf(name)];
    for (const [index, truth] of list.rows.entries()) {
      expect(column(lines[index]!, 'id')).toBe(truth.id);
      expect(column(lines[index]!, 'e2eMs')).toBe(String(truth.e2eMs));
    }
    await page.getByTestId('next-page').click();
    await page.waitForURL(/cursor=/);
    const next = await api<RequestPage>('requests', `${query}&cursor=${list.next}`);
    expect(await page.getByTestId('request').first().getAttribute('data-id')).toBe(next.rows[0]!.id);
  });

  it('one request: its rank, and terms that add up to its end to end', async () => {
    const list = await api<RequestPage>('requests', `${range}&endpoint=%2Fv1%2Fagent`);
    const { id, startedAt } = list.rows[5]!;
    const detail = await api<RequestDetail>(`requests/${id}`, `startedAt=${startedAt}`);
    await page.goto(`${url}/demo/requests/${id}?startedAt=${startedAt}`);
    expect(await page.locator('h1').textContent()).toContain(formatMs(detail.request.e2eMs));
    expect(await page.getByTestId('rank').textContent()).toContain(formatRatio(detail.rank!.shareFaster, 2));
    const sum = Object.values(detail.request.terms).reduce<number>((total, ms) => total + (ms ?? 0), 0);
    expect(sum).toBeCloseTo(detail.request.e2eMs, 3);
    expect(await page.getByTestId('request-term').count()).toBe(12);
    expect(await page.getByTestId('call').count()).toBe(detail.callLines.length);
    expect(await seriousFindings(page)).toEqual([]);
  });
});

it('Regions: the matrix and the placements are those of the API', async () => {
  const regions = await api<Regions>('regions');
  await page.goto(`${url}/demo/regions?${range}`);
  expect(await page.getByTestId('endpoint').getAttribute('data-endpoint')).toBe(regions.endpoint);
  for (const pair of regions.pairs) {
    const where = `[data-client="${pair.clientRegion}"][data-service="${pair.serviceRegion}"]`;
    const cell = page.locator(`[data-testid=region-pair]${where}`);
    expect(await textOf(cell, 'wait-p99')).toBe(formatValue(pair.wait.p99));
    expect(await textOf(cell, 'n')).toBe(`n ${formatCount(pair.n)}`);
  }
  expect(await page.getByTestId('placement').count()).toBe(
    regions.placements.reduce((sum, one) => sum + one.scenarios.length, 0),
  );
  expect(await page.getByTestId('arc').count()).toBeGreaterThan(0);
});

it('Trust and Set-up: figures, evidence, steps and shares are those of the API', async () => {
  const trust = await api<Trust>('trust', `${range.split('&')[0]}`);
  await page.goto(`${url}/demo/trust?${range.split('&')[0]}&to=${new Date().toISOString()}`);
  expect(await page.getByTestId('figure-accepted').textContent()).toBe(formatCount(trust.received.accepted));
  for (const row of await page.getByTestId('evidence').all()) {
    const term = (await row.getAttribute('data-term')) as keyof Trust['evidence'];
    expect(await textOf(row, 'coverage')).toBe(formatRatio(trust.evidence[term].coverage));
  }
  const setup = await api<Setup>('setup');
  await page.goto(`${url}/demo/setup?${range}`);
  for (const step of await page.getByTestId('step').all()) {
    const name = (await step.getAttribute('data-step')) as keyof Setup['steps'];
    expect(await step.getAttribute('data-state')).toBe(setup.steps[name]);
  }
  for (const region of setup.regions) {
    const row = page.locator(`[data-testid=setup-region][data-region="${region.clientRegion}"]`);
    expect(await textOf(row, 'n')).toBe(formatCount(region.n));
    expect(await textOf(row, 'model-share')).toBe(formatRatio(region.modelShare));
  }
});

it('an owner invites somebody, who joins by the link and may only look', async () => {
  await page.goto(`${url}/demo/settings/members`);
  const form = page.getByRole('form', { name: 'Invite somebody' });
  await form.getByLabel('E-mail').fill('reader@example.com');
  await form.getByRole('combobox').selectOption('reader');
  await form.getByRole('button', { name: 'Make an invitation' }).click();
  const link = (await page.getByTestId('invite-link').textContent())!;
  const guest = await (await dashboard.browser.newContext({ bypassCSP: true })).newPage();
  await guest.goto(link);
  await guest.getByLabel(/Choose a password/).fill('a password of mine');
  await guest.getByRole('button', { name: 'Join' }).click();
  await guest.getByLabel('E-mail').fill('reader@example.com');
  await guest.getByLabel('Password').fill('a password of mine');
  await guest.getByRole('button', { name: 'Sign in' }).click();
  await guest.waitForURL((at) => at.pathname === '/demo');
  await guest.goto(`${url}/demo/settings/members`);
  expect(await guest.getByRole('button', { name: /Remove/ }).count()).toBe(0);
  await guest.goto(link);
  expect(await guest.locator('h1').textContent()).toBe('This invitation no longer works');
  expect(dashboard.complaints).toEqual([]);
});
