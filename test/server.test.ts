// The web process as built: what it answers itself, what it refuses, and that acknowledged events are there at once.
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './support/database';
import { INITIAL, type RunningServer, startServer } from './support/server';

let database: TestDatabase;
let running: RunningServer;
beforeAll(async () => {
  database = await createTestDatabase();
  running = await startServer();
}, 300_000);
afterAll(async () => {
  await running?.stop();
  await database?.drop();
});

/** One raw request: fetch would normalise what is tested here. */
function send(options: { path: string; method?: string; headers?: Record<string, string> }): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(running.url);
    const request = http.request({ hostname, port, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('upgrade', (response) => resolve(response.statusCode ?? 0));
    request.once('error', reject);
    request.end();
  });
}

describe('the server', () => {
  it('says that it is well, and which version it is', async () => {
    const answer = await fetch(`${running.url}/healthz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: 'ok', database: 'reachable', version: expect.any(String) });
  });

  it('initialises from the environment, so that the keys work', async () => {
    expect(running.setupUrl).toBeNull();
    const answer = await fetch(`${running.url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${INITIAL.ISOCHRONE_INIT_INGEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify([{ id: 'a', startedAt: Date.now() - 5_000, endpoint: '/chat', e2eMs: 812.5 }]),
    });
    expect(await answer.json()).toEqual({ accepted: 1, duplicates: 0, rejected: [] });
    expect(await database.query('SELECT slug FROM project')).toEqual([{ slug: INITIAL.ISOCHRONE_INIT_PROJECT }]);
    const [chunk] = await database.query('SELECT ids FROM hot_chunk');
    expect(chunk).toEqual({ ids: ['a'] });
  });

  it('refuses absolute targets, foreign hosts, and writes to pages', async () => {
    expect(await send({ path: 'http://169.254.169.254/latest/meta-data' })).toBe(400);
    expect(await send({ path: '/', headers: { host: 'rebound.example' } })).toBe(421);
    expect(await send({ path: '/', method: 'POST', headers: { 'next-action': 'x' } })).toBe(405);
  });

  it('has an icon where browsers look for one before they have read the page', async () => {
    const answer = await fetch(`${running.url}/favicon.ico`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('image/svg+xml');
  });

  it('does not upgrade to a websocket', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAA',
    };
    expect(await send({ path: '/_next/webpack-hmr', headers })).not.toBe(101);
  });

  it('gives each page its own nonce', async () => {
    const policies = await Promise.all(
      [1, 2].map(async () => (await fetch(`${running.url}/`)).headers.get('content-security-policy')),
    );
    expect(policies[0]).toMatch(/script-src 'self' 'nonce-[A-Za-z0-9+/=]{24}'/);
    expect(policies[0]).not.toBe(policies[1]);
  });
});

it('prints a one-time link while nobody can sign in', async () => {
  const empty = await createTestDatabase();
  const first = await startServer({ ISOCHRONE_INIT_EMAIL: undefined }, { worker: false });
  expect(first.setupUrl).toMatch(/\/setup\?token=[\w-]{43}$/);
  const [link] = await empty.query('SELECT token_hash FROM setup_link');
  expect(first.setupUrl).not.toContain(String(link?.token_hash));
  await first.stop();
  await empty.drop();
}, 60_000);
