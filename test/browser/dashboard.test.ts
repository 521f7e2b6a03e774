// Every page of the registry in a real browser, on demonstration data and on an empty project; the shell, the scope bar,
// and that page, API, CSV and SQL say the same.
import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '@/app/(dashboard)/shell/pages';
import { formatCount, formatValue } from '@/lib/charts/formatMs';
import type { Comparison } from '@/lib/queries/loadComparison';
import type { Latency } from '@/lib/queries/loadLatency';
import type { LatencyGroups } from '@/lib/queries/loadLatencyGroups';
import type { WhatIf } from '@/lib/queries/loadWhatIf';
import { type Dashboard, layoutShift, openDashboard, seriousFindings } from '../support/dashboard';
import { INITIAL } from '../support/server';

const SCRIPT_BYTES_MAX = 250 * 1024;
/** What is called good; 0 is nothing moved. */
const LAYOUT_SHIFT_MAX = 0.02;

let dashboard: Dashboard;
let wide: Page;
let narrow: Page;
let url: string;

beforeAll(async () => {
  dashboard = await openDashboard(4_000);
  url = dashboard.server.url;
  wide = await dashboard.openPage({ width: 1440, theme: 'light' });
  narrow = await dashboard.openPage({ width: 390, theme: 'dark' });
}, 300_000);
afterAll(() => dashboard?.close());

/** Gzipped bytes of the scripts that the HTML of a page names: what a first visit has to load. */
async function scriptBytes(page: Page, address: string): Promise<number> {
  const html = await (await page.request.get(address)).text();
  // scripts marked noModule are for browsers without modules, which load nothing else
  const tags = [...html.matchAll(/<script[^>]+src="([^"]+)"[^>]*>/g)].filter(([tag]) => !/nomodule/i.test(tag));
  const sources = new Set(tags.map((match) => match[1]!));
  let bytes = 0;
  for (const source of sources)
    bytes += gzipSync(await (await page.request.get(new URL(source, url).href)).body()).length;
  return bytes;
}

describe.each(PAGES)('$name', ({ path, name }) => {
  it.each(['demo', 'test'])('of the project "%s" is sound, wide and light, narrow and dark', async (project) => {
    const address = `${url}/${project}${path}`;
    for (const page of [wide, narrow]) {
      const before = dashboard.complaints.length;
      const answer = await page.goto(address);
      expect(answer?.status()).toBe(200);
      await page.waitForLoadState('networkidle');
      const place = `${address} at ${page.viewportSize()?.width}`;
      expect(await page.locator('main').count(), place).toBe(1);
      const { shift, moved } = await layoutShift(page);
      expect(shift, `layout shift of ${place}: ${moved.join(', ')}`).toBeLessThanOrEqual(LAYOUT_SHIFT_MAX);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(over, `pixels that ${place} is too wide`).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page), place).toEqual([]);
      expect(dashboard.complaints.slice(before)).toEqual([]);
    }
  });

  it('loads at most 250 kB of scripts', async () => {
    const bytes = await scriptBytes(wide, `${url}/demo${path}`);
    console.log(`${name}: ${(bytes / 1024).toFixed(0)} kB of scripts, gzipped`);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
  });
});

describe('the shell', () => {
  it('keeps the theme: the server already renders it', async () => {
    await wide.goto(`${url}/demo/latency`);
    await wide.getByRole('radio', { name: 'Dark' }).check({ force: true });
    const html = await (await wide.request.get(`${url}/demo`)).text();
    expect(html).toMatch(/<html[^>]+data-theme="dark"/);
    expect(await wide.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(15, 20, 27)');
    await wide.getByRole('radio', { name: 'Light' }).check({ force: true });
  });

  it('opens pages by g and a letter, with the filters carried along', async () => {
    await wide.goto(`${url}/demo?range=24h&endpoint=%2Fv1%2Fchat`);
    await wide.waitForLoadState('networkidle');
    await wide.keyboard.press('g');
    await wide.keyboard.press('l');
    await wide.waitForURL((at) => at.pathname === '/demo/latency');
    expect(new URL(wide.url()).search).toBe('?range=24h&endpoint=%2Fv1%2Fchat');
  });

  it('? tells every key, Ctrl K finds a page by its question, Tab first offers the content', async () => {
    await wide.goto(`${url}/demo`);
    await wide.waitForLoadState('networkidle');
    await wide.keyboard.press('?');
    await wide.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(await wide.getByRole('dialog').locator('dt').count()).toBeGreaterThanOrEqual(PAGES.length);
    await wide.keyboard.press('Escape');
    await wide.keyboard.press('Control+k');
    await wide.getByPlaceholder('Which page, or which question?').fill('what changed');
    await wide.keyboard.press('Enter');
    await wide.waitForURL((at) => at.pathname === '/demo/compare');
    await wide.goto(`${url}/demo`);
    await wide.keyboard.press('Tab');
    expect(await wide.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
  });

  it('narrow screens have the pages in a drawer', async () => {
    await narrow.goto(`${url}/demo`);
    await narrow.waitForLoadState('networkidle');
    await narrow.getByRole('button', { name: 'Pages' }).click();
    await narrow.getByRole('dialog').getByRole('link', { name: 'Latency' }).click();
    await narrow.waitForURL((at) => at.pathname === '/demo/latency');
  });
});

describe('the scope bar', () => {
  it('puts a filter into the address, and Back takes it out', async () => {
    await wide.goto(`${url}/demo/latency`);
    await wide.waitForLoadState('networkidle');
    await wide.keyboard.press('/');
    await wide.keyboard.press('Enter');
    await wide.getByRole('option', { name: '/v1/chat' }).click();
    await wide.keyboard.press('Escape');
    await wide.waitForURL((at) => at.searchParams.get('endpoint') === '/v1/chat');
    await wide.goBack();
    await wide.waitForURL((at) => !at.searchParams.has('endpoint'));
  });

  it('named ranges and days of the calendar are kept, in the zone of the project', async () => {
    await wide.goto(`${url}/demo/latency`);
    await wide.waitForLoadState('networkidle');
    await wide.getByTestId('range-picker').click();
    await wide.getByRole('button', { name: 'Last complete week' }).click();
    await wide.waitForURL((at) => at.searchParams.get('range') === 'week');
    expect(await wide.getByTestId('range').textContent()).toMatch(/, 00:00 to .*, 00:00 \(UTC\)/);
    await wide.goto(`${url}/demo/latency?from=2026-03-01T00:00&to=2026-03-02T00:00&timeZone=Europe/Berlin`);
    expect(await wide.getByTestId('range').textContent()).toMatch(
      /^1 Mar 2026, 00:00 to 2 Mar 2026, 00:00 \(Europe\/Berlin\)/,
    );
  });

  it('copies a link that says the same tomorrow', async () => {
    await wide.goto(`${url}/demo/latency?range=7d&endpoint=%2Fv1%2Fchat`);
    await wide.waitForLoadState('networkidle');
    wide.once('dialog', (dialog) => void dialog.accept());
    await wide.getByTestId('copy-link').click();
    const link = new URL((await wide.locator('[data-testid=copy-link][data-link]').getAttribute('data-link'))!);
    const { from, to, endpoint, ...others } = Object.fromEntries(link.searchParams);
    expect([endpoint, others.range, others.timeZone]).toEqual(['/v1/chat', undefined, 'UTC']);
    expect(Date.parse(to!) - Date.parse(from!)).toBe(7 * 86_400_000);
    expect(Math.abs(Date.parse(to!) - Date.now())).toBeLessThan(120_000);
  });

  it('what cannot be answered says why', async () => {
    await wide.goto(`${url}/demo/latency?endpoint=a&step=PT1S`);
    expect(await wide.getByRole('alert').first().textContent()).toMatch(/step/);
  });
});

/** The last day up to a full hour, so that page and API are asked the same. */
function lastDay(): string {
  const to = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  return `from=${new Date(to - 86_400_000).toISOString()}&to=${new Date(to).toISOString()}`;
}

async function api<T>(path: string): Promise<T> {
  const answer = await wide.request.get(`${url}/api/v1/${path}&project=demo`);
  expect(answer.status(), `${path}: ${(await answer.text()).slice(0, 300)}`).toBe(200);
  return (await answer.json()) as T;
}

describe('latency', () => {
  it('page, API and CSV say the same, and SQL the same count', async () => {
    const range = lastDay();
    await wide.goto(`${url}/demo/latency?${range}&metric=e2e`);
    const latency = await api<Latency>(`latency?${range}&metric=e2e`);
    const summary = (key: string) =>
      wide.locator(`[data-testid=summary][data-quantile=${key}]`).getByTestId('value').textContent();
    expect(await summary('n')).toBe(formatCount(latency.summary.n));
    for (const key of ['p50', 'p95', 'p99'] as const)
      expect(await summary(key)).toBe(formatValue(latency.summary[key]));
    const [row] = await dashboard.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM timed_request JOIN project ON project.id = project_id WHERE slug = 'demo'
         AND started_at >= $1 AND started_at < $2 AND outcome <> 'error' AND NOT (outcome = 'cancelled' AND ttft_us IS NOT NULL)
         AND coalesce(cache, 'none') NOT IN ('response', 'semantic')`,
      [latency.effectiveFrom, latency.effectiveTo],
    );
    expect(latency.summary.n).toBe(row?.n);
    const csv = await wide.request.get(
      new URL((await wide.getByRole('link', { name: 'CSV' }).first().getAttribute('href'))!, url).href,
    );
    const lines = (await csv.text()).trimEnd().split('\r\n').slice(1);
    const shown = await wide.getByTestId('point').all();
    expect([lines.length, shown.length]).toEqual([latency.points.length, latency.points.length]);
    for (const [i, point] of latency.points.entries()) {
      const cells = lines[i]!.split(',');
      expect([cells[0], cells[3], cells[4]]).toEqual([point.at, String(point.n), String(point.p50.ms ?? '')]);
      expect(await shown[i]!.getByTestId('p50').textContent()).toBe(formatValue(point.p50));
    }
  });

  it('the table sorts by its headings and equals the API', async () => {
    const range = lastDay();
    await wide.goto(`${url}/demo/latency?${range}&by=clientRegion&sort=p95`);
    const { groups } = await api<LatencyGroups>(`latency/groups?${range}&groupBy=clientRegion`);
    const size = (group: LatencyGroups['groups'][number]) => group.quantiles.p95.ms ?? group.quantiles.p95.lowMs ?? -1;
    const expected = [...groups]
      .sort((a, b) => size(b) - size(a))
      .map(({ group, quantiles }) => [group, formatValue(quantiles.p95)]);
    const rows = await wide.getByTestId('group').all();
    const shown = await Promise.all(
      rows.map(async (row) => [await row.getAttribute('data-group'), await row.getByTestId('p95').textContent()]),
    );
    expect(shown).toEqual(expected);
  });

  it('an area dragged over the heatmap is looked at, and counted as SQL counts it', async () => {
    await wide.goto(`${url}/demo/latency?${lastDay()}&metric=e2e&endpoint=%2Fv1%2Frerank`);
    await wide.waitForLoadState('networkidle');
    const heatmap = wide.getByTestId('heatmap');
    await heatmap.scrollIntoViewIfNeeded();
    const frame = (await heatmap.boundingBox())!;
    await wide.mouse.move(frame.x + 120, frame.y + 20);
    await wide.mouse.down();
    await wide.mouse.move(frame.x + 700, frame.y + 120, { steps: 6 });
    await wide.mouse.up();
    await wide.getByTestId('selection').waitFor();
    const [fromMs, toMs, lowMs, highMs] = new URL(wide.url()).searchParams.get('box')!.split(',').map(Number);
    const [row] = await dashboard.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM timed_request JOIN project ON project.id = project_id WHERE slug = 'demo'
         AND endpoint = '/v1/rerank' AND started_us >= $1 AND started_us < $2 AND e2e_us >= $3 AND e2e_us < $4
         AND outcome <> 'error' AND NOT (outcome = 'cancelled' AND ttft_us IS NOT NULL)
         AND coalesce(cache, 'none') NOT IN ('response', 'semantic')`,
      [fromMs! * 1000, toMs! * 1000, lowMs! * 1000, highMs! * 1000],
    );
    expect(row!.n).toBeGreaterThan(0);
    expect(await wide.getByTestId('selected').textContent()).toBe(formatCount(row!.n));
    expect(await seriousFindings(wide)).toEqual([]);
  });
});

it('compare: the page claims what the API claims, and nothing else', async () => {
  const [after, before] = [lastDay(), lastDay()];
  const [from] = after.split('&');
  const start = Date.parse(from!.slice(5));
  const then = `${new Date(start - 86_400_000).toISOString()}`;
  const until = new Date(start).toISOString();
  await wide.goto(`${url}/demo/compare?${after}&compare=custom&compareFrom=${then}&compareTo=${until}`);
  const answer = await api<Comparison>(`compare?${before}&beforeFrom=${then}&beforeTo=${until}`);
  expect(answer.endpoints.length).toBeGreaterThan(2);
  for (const shift of answer.endpoints) {
    const row = wide.locator(`[data-testid=endpoint][data-endpoint="${shift.endpoint}"]`);
    const claims = await row.getByTestId('change').all();
    const shown = await Promise.all(claims.map((cell) => cell.getAttribute('data-claimed')));
    expect(shown).toEqual([shift.p50, shift.p95, shift.p99].map(({ isClaimed }) => String(isClaimed)));
    expect(await row.getByTestId('p95-after').textContent()).toBe(formatValue(shift.p95.after));
  }
});

describe('what if', () => {
  it('is its address: levers and floors chosen in the form, the effect as the API says it', async () => {
    await wide.goto(`${url}/demo/what-if?${lastDay()}&endpoint=%2Fv1%2Frerank`);
    await wide.waitForLoadState('networkidle');
    await wide.getByRole('checkbox', { name: 'Cold starts' }).check();
    await wide.getByLabel('Floor of Queue and broker, ms').fill('5');
    await wide.getByRole('button', { name: 'Show what it would gain' }).click();
    await wide.waitForURL((at) => at.searchParams.has('lever'));
    const asked = new URL(wide.url()).searchParams;
    expect([asked.getAll('lever'), asked.getAll('floor')]).toEqual([['queue', 'coldStart'], ['queue:5']]);
    const { effect } = await api<WhatIf>(`what-if?${asked}`);
    for (const key of ['p50', 'p99'] as const) {
      const row = wide.locator(`[data-testid=quantile][data-quantile=${key}]`);
      await row.waitFor();
      expect(await row.getByTestId('after').textContent()).toBe(formatValue(effect!.quantiles[key].after));
      expect(await row.getByTestId('gain').textContent()).toBe(formatValue(effect!.quantiles[key].gain));
    }
    expect(await wide.getByTestId('alone').count()).toBe(2);
    expect(await seriousFindings(wide)).toEqual([]);
  });
});

describe('markers', () => {
  it('are listed under the chart with the comparison around them', async () => {
    const at = new Date(Date.now() - 36 * 3_600_000).toISOString();
    const sent = await wide.request.post(`${url}/api/v1/markers?project=demo`, {
      headers: { origin: url },
      data: { at, label: 'Deployed chat', version: '2.4.1' },
    });
    expect(sent.status()).toBe(200);
    await wide.goto(`${url}/demo/latency`);
    await wide.getByText('1 marker').click();
    await wide.getByRole('link', { name: 'the day after against the day before' }).click();
    await wide.waitForURL((address) => address.pathname === '/demo/compare');
    expect(new URL(wide.url()).searchParams.get('compareTo')).toBe(at);
    await wide.getByTestId('sentence').waitFor();
  });
});

// last: it makes the empty project one with data
it('the empty page shows what to type, and turns into the page when that was typed', async () => {
  await wide.goto(`${url}/test/latency`);
  await wide.locator('pre', { hasText: url }).waitFor(); // the address of the server is filled in by the browser
  const lines = await wide.locator('pre').textContent();
  const typed = lines!.replace('your ingest key', INITIAL.ISOCHRONE_INIT_INGEST_KEY);
  const ran = spawnSync('bash', ['-c', typed], { encoding: 'utf8' });
  expect(ran.stdout).toMatch(/"accepted":1/);
  await wide.getByTestId('scope-bar').waitFor({ timeout: 20_000 });
});

it('nothing was logged as an error in the browser', () => {
  expect(dashboard.complaints).toEqual([]);
});
