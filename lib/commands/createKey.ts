import type { Viewer } from '../core/viewer';
import { newKey } from '../db/newKey';
import { prisma } from '../db/prisma';
import { requireOwner } from './requireOwner';

export type CreatedKey = { id: string; key: string };

/** Makes a key of the viewer's project. The answer is the only time the key itself is seen. Throws AnswerError 403. */
export async function createKey(question: {
  viewer: Viewer;
  input: { name: string; scope: string; origins: string[] };
}): Promise<CreatedKey> {
  const { viewer, input } = question;
  requireOwner(viewer);
  const { key, hash, prefix } = newKey(input.scope);
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  const row = await prisma().$transaction(async (tx) => {
    const created = await tx.apiKey.create({ data: { ...input, projectId: viewer.projectId, hash, prefix } });
    const entry = { projectId: viewer.projectId, actor, action: 'key_created', subject: created.id };
    await tx.auditEntry.create({ data: { ...entry, detail: { name: input.name, scope: input.scope } } });
    return created;
  });
  return { id: row.id, key };
}
