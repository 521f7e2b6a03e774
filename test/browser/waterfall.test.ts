// A trace sent with OTLP to the running server becomes a request whose page draws its spans; rules are set and previewed.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { INITIAL, type RunningServer, startServer } from '../support/server';

let database: TestDatabase;
let server: RunningServer;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
const traceId = randomBytes(16).toString('hex');

/** Client → gateway → queue → worker → model, 400 ms; the worker's clock runs 3 s ahead. */
function trace() {
  const baseMs = Date.now() - 3_000;
  const value = (v: string | number) => (typeof v === 'number' ? { intValue: String(v) } : { stringValue: v });
  const attributes = (all: Record<string, string | number>) =>
    Object.entries(all).map(([key, v]) => ({ key, value: value(v) }));
  const span = (
    id: number,
    parent: number,
    [name, kind, fromMs, toMs]: [string, number, number, number],
    all = {},
  ) => ({
    ...{ traceId, spanId: id.toString(16).padStart(16, '0'), name, kind, attributes: attributes(all) },
    parentSpanId: parent === 0 ? '' : parent.toString(16).padStart(16, '0'),
    startTimeUnixNano: `${baseMs + fromMs}000000`,
    endTimeUnixNano: `${baseMs + toMs}000000`,
  });
  const of = (service: string, region: string, spans: object[]) => ({
    resource: {
      attributes: attributes({ 'service.name': service, 'cloud.region': region, 'host.name': `${service}-1` }),
    },
    scopeSpans: [{ scope: { name: 'test' }, spans }],
  });
  const ahead = 3_000;
  return {
    resourceSpans: [
      of('web', 'eu-west-2', [span(1, 0, ['POST /ask', 3, 0, 400], { 'http.request.method': 'POST' })]),
      of('gateway', 'us-east-1', [
        span(2, 1, ['POST /ask', 2, 38, 362], { 'http.route': '/ask' }),
        span(3, 2, ['add ask', 4, 42, 44], { 'bullmq.queue.name': 'ask' }),
      ]),
      of('worker', 'us-east-1', [
        span(4, 3, ['process ask', 5, ahead + 140, ahead + 358], { 'bullmq.queue.name': 'ask' }),
        span(5, 4, ['chat gpt-4o-mini', 3, ahead + 142, ahead + 352], {
          ...{
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': 'openai',
            'gen_ai.request.model': 'gpt-4o-mini',
          },
        }),
        span(6, 4, ['rerank documents', 1, ahead + 352, ahead + 357]),
      ]),
    ],
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServer();
  const sent = await fetch(`${server.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${INITIAL.ISOCHRONE_INIT_INGEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(trace()),
  });
  expect(sent.status).toBe(200);
  browser = await launchBrowser();
  page = await (await browser.newContext({ viewport: { width: 1440, height: 1000 } })).newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
  await page.goto(`${server.url}/sign-in`);
  await page.getByLabel('E-mail').fill(INITIAL.ISOCHRONE_INIT_EMAIL);
  await page.getByLabel('Password').fill(INITIAL.ISOCHRONE_INIT_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await database?.drop();
});

async function requestId(): Promise<string> {
  for (let tries = 0; tries < 150; tries++) {
    const [row] = await database.query<{ id: string }>('SELECT id FROM timed_request WHERE trace_id = $1', [traceId]);
    if (row) return row.id;
    await sleep(200);
  }
  throw new Error(`The worker has not assembled the trace:\n${server.output()}`);
}

it('the page of a request draws its spans, and own times add up', async () => {
  const id = await requestId();
  await page.goto(`${server.url}/${INITIAL.ISOCHRONE_INIT_PROJECT}/requests/${id}`);
  const waterfall = page.getByTestId('waterfall');
  await waterfall.waitFor();
  const rows = waterfall.getByTestId('span');
  expect(await rows.count()).toBe(7); // six spans and the wait in the queue
  const own = await rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-own-ms'))));
  expect(own.reduce((a, b) => a + b, 0)).toBeCloseTo(400, 1);
  const text = await waterfall.textContent();
  for (const words of ['6 spans of 3 services', 'waiting in the queue', 'its root came', 'gateway', 'clock −2,99']) {
    expect(text).toContain(words);
  }
  await page.screenshot({ path: 'test/browser/waterfall.png', fullPage: true });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: 'test/browser/waterfall-dark-390.png', fullPage: true });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.emulateMedia({ colorScheme: 'light' });
});

it('a rule is tried on recent traces and saved', async () => {
  await page.goto(`${server.url}/${INITIAL.ISOCHRONE_INIT_PROJECT}/settings/rules`);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByLabel('Value').fill('rerank documents');
  await page.getByLabel('its own time is').selectOption('routing');
  await page.getByRole('button', { name: 'Preview on recent traces' }).click();
  await page.getByTestId('preview').waitFor();
  expect(await page.getByTestId('preview').textContent()).toContain('1 of the 1 latest requests would change');
  expect(await page.getByTestId('matched').textContent()).toBe('matches 1 recent spans');
  await page.screenshot({ path: 'test/browser/rules.png', fullPage: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').waitFor();
  expect(await page.getByRole('status').textContent()).toContain('Saved as version 1');
  await page.reload();
  expect(await page.getByLabel('Value').inputValue()).toBe('rerank documents');
  expect(complaints).toEqual([]);
});
