import type { Role } from '../core/roles';
import type { Viewer } from '../core/viewer';
import { prisma, type Transaction } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

/**
 * Gives a member of the viewer's project another role, or with `role: null` takes them out. It holds from their next
 * request on: other people's sessions end with it. Throws AnswerError 403, 404, or 409 for the last owner.
 */
export async function changeMember(question: {
  viewer: Viewer;
  input: { userId: string; role: Role | null };
}): Promise<void> {
  const { viewer, input } = question;
  requireOwner(viewer);
  const { projectId } = viewer;
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  const where = { userId_projectId: { userId: input.userId, projectId } };
  await prisma().$transaction(async (tx) => {
    // one change of members at a time, or two owners could remove each other
    await tx.$queryRaw`SELECT 1 FROM project WHERE id = ${projectId}::uuid FOR UPDATE`;
    const member = await tx.membership.findUnique({ where });
    if (member === null) throw notAMember();
    if (member.role === input.role) return;
    if (member.role === 'owner') await requireAnotherOwner(tx, projectId);
    if (input.role === null) await tx.membership.delete({ where });
    else await tx.membership.update({ where, data: { role: input.role } });
    if (input.userId !== viewer.userId)
      await tx.user.update({ where: { id: input.userId }, data: { sessionVersion: { increment: 1 } } });
    const entry = { projectId, actor, subject: input.userId, detail: { from: member.role, to: input.role } };
    await tx.auditEntry.create({ data: { ...entry, action: input.role === null ? 'member.remove' : 'member.role' } });
  });
}

async function requireAnotherOwner(tx: Transaction, projectId: string): Promise<void> {
  if ((await tx.membership.count({ where: { projectId, role: 'owner' } })) > 1) return;
  const hint = 'Make somebody else an owner first.';
  throw new AnswerError({ status: 409, code: 'last_owner', message: 'A project keeps at least one owner.', hint });
}

function notAMember(): AnswerError {
  const hint = 'Reload the page: the list may have changed.';
  return new AnswerError({ status: 404, code: 'not_found', message: 'There is no such member.', hint });
}
