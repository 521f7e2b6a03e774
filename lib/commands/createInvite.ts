import { createHash, randomBytes } from 'node:crypto';
import { normaliseEmail } from '../core/email';
import type { Role } from '../core/roles';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

const VALID_MS = 7 * 86_400_000;

export type CreatedInvite = { id: string; token: string; expiresAt: string };

/**
 * Invites one address to the viewer's project. The token is seen only in this answer; an earlier invitation of the same
 * address ends. Throws AnswerError 403, or 409 for somebody who is a member already.
 */
export async function createInvite(question: {
  viewer: Viewer;
  input: { email: string; role: Role };
}): Promise<CreatedInvite> {
  const { viewer, input } = question;
  requireOwner(viewer);
  const { projectId } = viewer;
  const email = normaliseEmail(input.email);
  if ((await prisma().membership.findFirst({ where: { projectId, user: { email } } })) !== null) {
    const hint = 'Change the role in the list instead.';
    throw new AnswerError({ status: 409, code: 'member', message: `${email} is a member already.`, hint });
  }
  const token = randomBytes(32).toString('base64url');
  const tokenHash = createHash('sha256').update(token).digest() as Buffer<ArrayBuffer>;
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  const expiresAt = new Date(Date.now() + VALID_MS);
  const created = await prisma().$transaction(async (tx) => {
    const open = { projectId, email, usedAt: null, revokedAt: null };
    await tx.invite.updateMany({ where: open, data: { revokedAt: new Date() } });
    const row = await tx.invite.create({
      data: { projectId, tokenHash, email, role: input.role, createdBy: actor, expiresAt },
    });
    const detail = { email, role: input.role };
    await tx.auditEntry.create({ data: { projectId, actor, action: 'invite.create', subject: row.id, detail } });
    return row;
  });
  return { id: created.id, token, expiresAt: expiresAt.toISOString() };
}
