import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'].concat([
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]);
const SYSTEM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

/** A headless Chromium: CHROMIUM_PATH, the system's, or Playwright's own; else one is installed. Never skips: throws. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? installChromium(), args: FLAGS });
}

function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && !existsSync(named)) throw new Error(`CHROMIUM_PATH=${named} does not exist.`);
  return named ?? [...SYSTEM, chromium.executablePath()].find((file) => existsSync(file));
}

function installChromium(): string {
  const tried: string[] = [];
  const attempt = (command: string, args: string[]) => {
    const ran = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 });
    tried.push(`${command} ${args.join(' ')}: ${ran.error?.message ?? ran.stderr.trim().slice(-300)}`);
  };
  if (process.getuid?.() === 0) {
    attempt('apt-get', ['update', '-qq']);
    attempt('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium']);
  }
  if (findChromium() === undefined)
    attempt(process.execPath, ['node_modules/playwright-core/cli.js', 'install', 'chromium']);
  const found = findChromium();
  if (found === undefined)
    throw new Error(
      `No browser for the browser tests: install Chromium or set CHROMIUM_PATH. Tried:\n${tried.join('\n')}`,
    );
  return found;
}
