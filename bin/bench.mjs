#!/usr/bin/env node
// npm run bench: lists the benchmarks; npm run bench <name>: runs bench/<name>.ts.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
process.chdir(root);
const names = fs
  .readdirSync('bench')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -3));
const [name, ...args] = process.argv.slice(2);

if (name === undefined) console.log(`npm run bench <name>, one of: ${names.join(', ')}`);
else if (!names.includes(name)) {
  console.error(`No benchmark "${name}"; there are: ${names.join(', ')}`);
  process.exitCode = 1;
} else {
  const tsx = path.join('node_modules', 'tsx', 'dist', 'cli.mjs');
  process.exitCode = spawnSync(process.execPath, [tsx, `bench/${name}.ts`, ...args], { stdio: 'inherit' }).status ?? 1;
}
