import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

/** Revokes a key of the viewer's project; it stops working within 5 s. Throws AnswerError 403 or 404. */
export async function revokeKey(question: { viewer: Viewer; input: { id: string } }): Promise<void> {
  const { viewer, input } = question;
  requireOwner(viewer);
  const where = { id: input.id, projectId: viewer.projectId, revokedAt: null };
  const { count } = await prisma().apiKey.updateMany({ where, data: { revokedAt: new Date() } });
  if (count === 0) {
    const hint = 'Reload the page: it may be revoked already.';
    throw new AnswerError({ status: 404, code: 'not_found', message: 'There is no such key in use.', hint });
  }
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  const entry = { projectId: viewer.projectId, actor, action: 'key_revoked', subject: input.id };
  await prisma().auditEntry.create({ data: entry });
}
