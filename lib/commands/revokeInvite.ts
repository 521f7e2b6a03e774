import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

/** Ends an open invitation of the viewer's project. Throws AnswerError 403 or 404. */
export async function revokeInvite(question: { viewer: Viewer; input: { id: string } }): Promise<void> {
  const { viewer, input } = question;
  requireOwner(viewer);
  const { projectId } = viewer;
  const where = { id: input.id, projectId, usedAt: null, revokedAt: null };
  const { count } = await prisma().invite.updateMany({ where, data: { revokedAt: new Date() } });
  if (count === 0) {
    const hint = 'Reload the page: it may be used or withdrawn already.';
    throw new AnswerError({ status: 404, code: 'not_found', message: 'There is no such open invitation.', hint });
  }
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  await prisma().auditEntry.create({ data: { projectId, actor, action: 'invite.revoke', subject: input.id } });
}
