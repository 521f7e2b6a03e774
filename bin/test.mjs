#!/usr/bin/env node
// npm test: everything that must hold. Installs and builds what is missing, then format and lint, types, all tests.
// `--full` adds the long ones (test/full). The last line printed is "N passed, N failed" over all checks.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildIfStale } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = path.resolve(import.meta.dirname, '..');
process.chdir(root);
const isFull = process.argv.includes('--full');
const filters = process.argv.slice(2).filter((argument) => argument !== '--full');
const total = { passed: 0, failed: 0 };

function record(name, ok) {
  total[ok ? 'passed' : 'failed'] += 1;
  console.log(`${ok ? '✓' : '✗'} ${name}`);
}

async function step(name, work) {
  try {
    await work();
    record(name, true);
  } catch (error) {
    console.error(error.message);
    record(name, false);
  }
}

function run(script, args) {
  const ran = spawnSync(process.execPath, [path.join('node_modules', script), ...args], { stdio: 'inherit' });
  if (ran.status !== 0) throw new Error(`${script} ended with ${ran.status ?? ran.signal}`);
}

/** Runs the suites and counts single tests; a file that could not even be collected counts as one failure. */
function runSuites() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'isochrone-vitest-'));
  const report = path.join(folder, 'report.json');
  const projects = ['pure', 'database', ...(isFull ? ['full'] : [])].flatMap((name) => ['--project', name]);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects, ...reporters, ...filters];
  const ran = spawnSync(process.execPath, args, { stdio: 'inherit' });
  let counted = { passed: 0, failed: 0 };
  if (fs.existsSync(report)) {
    const result = JSON.parse(fs.readFileSync(report, 'utf8'));
    const broken = result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
    counted = { passed: result.numPassedTests, failed: result.numFailedTests + broken.length };
  }
  fs.rmSync(folder, { recursive: true, force: true });
  total.passed += counted.passed;
  total.failed += counted.failed;
  if (ran.status !== 0 && counted.failed === 0) record('vitest', false);
}

const say = (line) => console.log(line);
await step('install', () => installIfNeeded(say));
if (total.failed === 0) {
  await step('build', () => buildIfStale(say));
  await step('format and lint', () => run('@biomejs/biome/bin/biome', ['check', '.']));
  await step('types', () => run('typescript/bin/tsc', ['--noEmit']));
  runSuites();
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
