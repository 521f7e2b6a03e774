import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GET, PUT } from '@/app/api/v1/baselines/route';
import { hashKey } from '@/lib/auth/keys';
import { replaceBaselines } from '@/lib/commands/replaceBaselines';
import { replaceFloors } from '@/lib/commands/replaceFloors';
import type { Viewer } from '@/lib/core/viewer';
import { loadLeverContext } from '@/lib/queries/loadLeverContext';
import { createTestDatabase, type TestDatabase } from '../support/database';

describe('floors and baselines', () => {
  let database: TestDatabase;
  let viewer: Viewer;
  beforeAll(async () => {
    database = await createTestDatabase();
    const projectId = '0197a000-0000-7000-8000-000000000001';
    await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'floors', 'Floors')`, [projectId]);
    viewer = { projectId, projectSlug: 'floors', userId: null, keyId: 'key-1', role: 'owner' };
  });
  afterAll(() => database.drop());

  it('the next read sees a new version; an earlier instant keeps the old one', async () => {
    expect(await loadLeverContext({ viewer })).toMatchObject({ overrides: [], baselines: [], version: 'default' });
    const overrides = [{ lever: 'queue' as const, endpoint: 'chat', floorMs: 20 }];
    expect(await replaceFloors({ viewer, input: { overrides } })).toEqual({ overrides, version: 1 });
    const note = 'measured locally';
    const baselines = [{ provider: 'openai', model: 'gpt-4o', baselineMs: 100, note }];
    expect(await replaceBaselines({ viewer, input: { baselines } })).toEqual({ baselines, version: 1 });
    const now = await loadLeverContext({ viewer });
    expect(now).toMatchObject({ overrides, baselines, floorsVersion: 1, baselinesVersion: 1 });
    const before = await loadLeverContext({ viewer, atUs: (Date.now() - 3_600_000) * 1000 });
    expect(before).toMatchObject({ overrides: [], baselines: [], version: 'default' });
  });

  it('versions made at once get their own numbers, each with an audit entry', async () => {
    const input = { baselines: [] };
    const made = await Promise.all([1, 2, 3].map(() => replaceBaselines({ viewer, input })));
    expect(made.map((one) => one.version).sort()).toEqual([2, 3, 4]);
    const rows = await database.query(`SELECT subject FROM audit_entry WHERE action = 'baselines.replace'`);
    expect(rows).toHaveLength(4);
  });

  it('names the field that is wrong, and refuses who may not', async () => {
    const baselines = [{ provider: 'openai', model: 'gpt-4o', baselineMs: -1, note: '' }];
    await expect(replaceBaselines({ viewer, input: { baselines } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('baselines.0.baselineMs'),
    });
    await expect(
      replaceFloors({ viewer, input: { overrides: [{ lever: 'speed', floorMs: 1 }] } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('overrides.0.lever') });
    const reader = { ...viewer, role: 'reader' as const };
    await expect(replaceBaselines({ viewer: reader, input: { baselines: [] } })).rejects.toMatchObject({ status: 403 });
  });

  it('over HTTP: a manage key replaces, a read key only reads', async () => {
    for (const scope of ['read', 'manage']) {
      await database.query(
        `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins)
         VALUES (gen_random_uuid(), $1, $2, $2, $3, 'iso', '{}')`,
        [viewer.projectId, scope, hashKey(`key to ${scope}`.replaceAll(' ', '_'))],
      );
    }
    const ask = (scope: string, body?: string) => {
      const headers = { authorization: `Bearer key_to_${scope}` };
      const url = 'http://localhost/api/v1/baselines';
      return body === undefined
        ? GET(new Request(url, { headers }))
        : PUT(new Request(url, { method: 'PUT', headers, body }));
    };
    const baselines = [{ provider: 'groq', model: 'llama', stage: 'llm', baselineMs: 40, note: '' }];
    const put = await ask('manage', JSON.stringify({ baselines }));
    expect([put.status, await put.json()]).toEqual([200, { baselines, version: 5 }]);
    const got = await ask('read');
    expect([got.status, await got.json()]).toEqual([200, { baselines, version: 5 }]);
    expect((await ask('read', JSON.stringify({ baselines }))).status).toBe(403);
    const broken = await ask('manage', '{');
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { code: 'not_json' } });
    expect((await ask('unknown')).status).toBe(401);
  });
});
