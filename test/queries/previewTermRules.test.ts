import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { attributeTrace } from '@/lib/core/trace/attributeTrace';
import type { Viewer } from '@/lib/core/viewer';
import { pool } from '@/lib/db/pool';
import { Assembly } from '@/lib/ingest/assembly/assemble';
import { appendSpans } from '@/lib/ingest/otlp/appendSpans';
import { previewTermRules } from '@/lib/queries/previewTermRules';
import { correctWithin } from '@/lib/rollup/correct';
import { CAPTURED_MS } from '../support/captures';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { captureSpans } from '../support/traces';

let database: TestDatabase;
const viewer: Viewer = { projectId: randomUUID(), projectSlug: 'p', userId: null, keyId: 'k', role: 'owner' };

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: CAPTURED_MS });
  database = await createTestDatabase();
  await database.query(`INSERT INTO project (id, slug, name) VALUES ($1, 'p', 'p')`, [viewer.projectId]);
  await appendSpans(viewer.projectId, captureSpans('distributed-3svc'));
  const assembly = new Assembly({ attribute: attributeTrace, correct: correctWithin });
  while ((await assembly.step({ aheadMs: 61_000 })).traces > 0);
});
afterAll(async () => {
  vi.useRealTimers();
  await pool().end();
  await database.drop();
});

it('says which requests a rule would change and how, and changes nothing', async () => {
  const rows = () =>
    database.query(
      'SELECT id, endpoint, queue_us, model_us, application_us FROM timed_request WHERE project_id = $1 ORDER BY id',
      [viewer.projectId],
    );
  const before = await rows();
  const none = await previewTermRules({ viewer, input: { rules: [] } });
  expect(none).toMatchObject({ changed: 0, terms: [], matchedSpans: [] });
  expect(none.requests).toBe(before.length);

  const rules = [
    { when: [{ attribute: 'service.name', is: 'equal' as const, value: 'london-client' }], set: { endpoint: 'ask' } },
    { when: [{ attribute: 'gen_ai.request.model', is: 'present' as const }], set: { term: 'application' as const } },
    { when: [{ attribute: 'nothing.has.this', is: 'present' as const }], set: { term: 'queue' as const } },
  ];
  const preview = await previewTermRules({ viewer, input: { rules } });
  expect(preview.changed).toBeGreaterThanOrEqual(60);
  expect(preview.endpoints[0]).toMatchObject({ endpoint: 'ask' });
  expect(preview.matchedSpans[0]).toBeGreaterThan(60);
  expect(preview.matchedSpans[1]).toBeGreaterThanOrEqual(60);
  expect(preview.matchedSpans[2]).toBe(0);
  const application = preview.terms.find((one) => one.term === 'application')!;
  expect(application.afterMs).toBeGreaterThan(application.beforeMs);
  expect(await rows()).toEqual(before);
});

it('without traces there is nothing to try on', async () => {
  const other = { ...viewer, projectId: randomUUID() };
  expect(await previewTermRules({ viewer: other, input: { rules: [] } })).toMatchObject({ requests: 0, changed: 0 });
});
