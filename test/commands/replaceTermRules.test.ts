import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GET, PUT } from '@/app/api/v1/term-rules/route';
import { hashKey } from '@/lib/auth/keys';
import { replaceTermRules } from '@/lib/commands/replaceTermRules';
import type { Viewer } from '@/lib/core/viewer';
import { loadTermRules, recentTermRules } from '@/lib/db/termRules';
import { loadRules } from '@/lib/queries/loadRules';
import { createTestDatabase, type TestDatabase } from '../support/database';

const RERANK = {
  when: [{ attribute: 'span.name', is: 'prefix' as const, value: 'rerank' }],
  set: { term: 'application' as const },
};
const TENANT = {
  when: [{ attribute: 'acme.tenant', is: 'equal' as const, value: 'a' }],
  set: { endpoint: 'tenant a' },
};

describe('term rules', () => {
  let database: TestDatabase;
  let viewer: Viewer;
  beforeAll(async () => {
    database = await createTestDatabase();
    const projectId = randomUUID();
    await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'rules', 'Rules')`, [projectId]);
    viewer = { projectId, projectSlug: 'rules', userId: null, keyId: 'key-1', role: 'owner' };
  });
  afterAll(() => database.drop());

  it('are replaced whole; their attributes are kept of spans from then on', async () => {
    expect(await loadRules({ viewer })).toEqual({ rules: [], version: null });
    expect((await recentTermRules(viewer.projectId)).attributes).toEqual(new Set());
    const rules = [RERANK, TENANT];
    expect(await replaceTermRules({ viewer, input: { rules } })).toEqual({ rules, version: 1 });
    expect(await loadRules({ viewer })).toEqual({ rules, version: 1 });
    const loaded = await loadTermRules(viewer.projectId);
    expect(loaded.attributes).toEqual(new Set(['span.name', 'acme.tenant']));
    expect(await replaceTermRules({ viewer, input: { rules: [] } })).toEqual({ rules: [], version: 2 });
    const audit = await database.query(`SELECT subject FROM audit_entry WHERE action = 'termRules.replace'`);
    expect(audit).toHaveLength(2);
  });

  it.each<[string, object, string]>([
    ['an unknown term', { ...RERANK, set: { term: 'speed' } }, 'rules.0.set.term'],
    ['nothing to set', { ...RERANK, set: {} }, 'rules.0.set'],
    ['no condition', { ...RERANK, when: [] }, 'rules.0.when'],
    ['no value', { ...RERANK, when: [{ attribute: 'a', is: 'equal' }] }, 'rules.0.when.0.value'],
    [
      'prompts',
      { ...RERANK, when: [{ attribute: 'gen_ai.prompt.0.content', is: 'present' }] },
      'rules.0.when.0.attribute',
    ],
    ['messages', { ...RERANK, when: [{ attribute: 'gen_ai.input.messages', is: 'present' }] }, 'never kept'],
    ['a cookie', { ...RERANK, when: [{ attribute: 'http.request.header.cookie', is: 'present' }] }, 'never kept'],
  ])('refuses %s, naming the field', async (_, rule, message) => {
    await expect(replaceTermRules({ viewer, input: { rules: [rule] } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });

  it('are set by owners and manage keys alone', async () => {
    await expect(
      replaceTermRules({ viewer: { ...viewer, role: 'member' }, input: { rules: [] } }),
    ).rejects.toMatchObject({
      status: 403,
    });
    const keys = { read: randomBytes(20).toString('hex'), manage: randomBytes(20).toString('hex') };
    for (const [scope, key] of Object.entries(keys)) {
      await database.query(
        `INSERT INTO api_key (id, project_id, name, scope, hash, prefix, origins) VALUES ($1, $2, 'k', $3, $4, 'k', '{}')`,
        [randomUUID(), viewer.projectId, scope, hashKey(key)],
      );
    }
    const url = 'http://localhost/api/v1/term-rules';
    const put = (key: string) =>
      PUT(new Request(url, { method: 'PUT', headers: { authorization: `Bearer ${key}` }, body: '{"rules": []}' }));
    expect((await put(keys.read)).status).toBe(403);
    expect((await put(keys.manage)).status).toBe(200);
    const got = await GET(new Request(url, { headers: { authorization: `Bearer ${keys.read}` } }));
    expect(await got.json()).toMatchObject({ rules: [] });
  });
});
