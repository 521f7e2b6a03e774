#!/usr/bin/env node
// Generates the ORM client when the schema or the generator changed since last time (content hash beside the output).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const output = path.join(root, 'lib/db/generated');
const marker = path.join(output, '.hash');

const hash = createHash('sha256')
  .update(readFileSync(path.join(root, 'prisma/schema.prisma')))
  .update(readFileSync(path.join(root, 'node_modules/prisma/package.json')))
  .digest('hex');

if (!existsSync(marker) || readFileSync(marker, 'utf8') !== hash) {
  const cli = path.join(root, 'node_modules/prisma/build/index.js');
  const ran = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
    cwd: root,
    // generate never runs the schema engine, and without this variable the CLI would download it
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' },
    encoding: 'utf8',
  });
  if (ran.status !== 0) {
    console.error(`prisma generate failed:\n${ran.stdout}\n${ran.stderr}`);
    process.exit(1);
  }
  writeFileSync(marker, hash);
}
