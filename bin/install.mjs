// Installs what package-lock.json names, unless node_modules already holds exactly that.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** True when npm's own record of node_modules has every locked package at its locked version. */
export function isInstalled() {
  const record = path.join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(
    ([place, wanted]) =>
      place === '' ||
      (installed[place] === undefined
        ? wanted.optional || wanted.devOptional
        : installed[place].version === wanted.version),
  );
}

/** Runs `npm ci` when needed. Development packages are part of it: the build needs them, also under NODE_ENV=production. */
export function installIfNeeded(say) {
  if (isInstalled()) return;
  say('installing packages from package-lock.json (once; about a minute)');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const ran = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (ran.status !== 0)
    throw new Error('npm ci failed (see above). Check the network or the registry setting, then start again.');
}
