import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type RunningServer, startServer } from '../support/server';

let database: TestDatabase;
let server: RunningServer;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServer();
}, 300_000);
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

function runDemo(): string {
  const args = ['dist/bin/demo.mjs', '--requests', '1500', '--url', server.url];
  const ran = spawnSync(process.execPath, args, { env: process.env, encoding: 'utf8' });
  expect(ran.status, ran.stderr + server.output()).toBe(0);
  return ran.stdout;
}

const stored = () =>
  database.query<{ n: string; ids: string; real: string }>(
    `SELECT count(*) AS n, count(DISTINCT timed_request.id) AS ids, count(*) FILTER (WHERE endpoint = 'thefastest.ai (real)') AS real
     FROM timed_request JOIN project ON project.id = timed_request.project_id WHERE slug = 'demo'`,
  );

it('posts to the real API, is owned by the owners, and does not double when run again', async () => {
  expect(runDemo()).toMatch(/requests accepted/);
  const [first] = await stored();
  expect(Number(first?.n)).toBeGreaterThan(2_000);
  expect(first?.ids).toBe(first?.n);
  expect(first?.real).toBe('1500');
  const [member] = await database.query(
    `SELECT role, is_demo FROM membership JOIN project ON project.id = project_id WHERE slug = 'demo'`,
  );
  expect(member).toEqual({ role: 'owner', is_demo: true });
  runDemo();
  const [second] = await stored();
  expect(Math.abs(Number(second?.n) - Number(first?.n))).toBeLessThan(20); // seconds have passed
  const projects = await database.query('SELECT DISTINCT project_id FROM hot_chunk');
  expect(projects.length, 'the replaced project leaves nothing behind').toBe(1);
}, 240_000);
