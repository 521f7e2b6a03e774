import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from './browser';
import { createTestDatabase, type TestDatabase } from './database';
import { INITIAL, type RunningServer, startServer } from './server';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type Dashboard = {
  database: TestDatabase;
  server: RunningServer;
  browser: Browser;
  /** A page of the signed-in owner, of this width and theme. What it says on the console goes to `complaints`. */
  openPage(look: { width: number; theme: 'light' | 'dark' }): Promise<Page>;
  /** Errors on the console and uncaught ones, with the address. */
  complaints: string[];
  close(): Promise<void>;
};

/** The real server with the demonstration (project "demo"), an empty project ("test") and a browser signed in. */
export async function openDashboard(requests: number): Promise<Dashboard> {
  const database = await createTestDatabase();
  const server = await startServer();
  const demo = ['dist/bin/demo.mjs', '--requests', String(requests), '--url', server.url];
  const ran = spawnSync(process.execPath, demo, { env: process.env, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`npm run demo failed: ${ran.stderr}`);
  await untilFolded(database, server);
  const browser = await launchBrowser();
  const complaints: string[] = [];
  const state = await signIn(browser, server.url);
  return {
    ...{ database, server, browser, complaints },
    openPage: async ({ width, theme }) => {
      // the server's policy forbids foreign scripts, axe among them; the policy has tests of its own
      const viewport = { width, height: width < 500 ? 844 : 900 };
      const context = await browser.newContext({ viewport, bypassCSP: true, storageState: state });
      await context.addCookies([{ name: 'theme', value: theme, url: server.url }]);
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()} ${message.location().url}`);
      });
      page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
      return page;
    },
    close: async () => {
      await browser.close();
      await server.stop();
      await database.drop();
    },
  };
}

async function signIn(browser: Browser, url: string): ReturnType<BrowserContext['storageState']> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/demo`);
  await page.getByLabel('E-mail').fill(INITIAL.ISOCHRONE_INIT_EMAIL);
  await page.getByLabel('Password').fill(INITIAL.ISOCHRONE_INIT_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${url}/demo`);
  const state = await context.storageState();
  await context.close();
  return state;
}

async function untilFolded(database: TestDatabase, server: RunningServer): Promise<void> {
  for (const untilMs = Date.now() + 200_000; Date.now() < untilMs; ) {
    const [row] = await database.query<{ n: string }>('SELECT count(*) AS n FROM pending');
    if (row?.n === '0') return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error(`The worker has not folded the demonstration:\n${server.output()}`);
}

/** What axe finds serious or critical on the page as it is. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: AXE });
  const findings = await page.evaluate(async () => {
    type Violation = { id: string; impact: string | null; nodes: { html: string }[] };
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** How much of the page moved while it loaded (the sum of the layout shifts so far), and what did. */
export async function layoutShift(page: Page): Promise<{ shift: number; moved: string[] }> {
  return page.evaluate(
    () =>
      new Promise<{ shift: number; moved: string[] }>((resolve) => {
        type Shift = PerformanceEntry & { value: number; sources: { node: Node | null }[] };
        let shift = 0;
        const moved: string[] = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as Shift[]) {
            shift += entry.value;
            for (const { node } of entry.sources) moved.push(`${node?.nodeName} "${node?.textContent?.slice(0, 40)}"`);
          }
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve({ shift, moved }), 200);
      }),
  );
}
