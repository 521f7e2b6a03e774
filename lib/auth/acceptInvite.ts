import { createHash } from 'node:crypto';
import type { Role } from '../core/roles';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { hashPassword } from './password';

/** What an open invitation is for. */
export type OpenInvite = { email: string; role: Role; slug: string; project: string; hasAccount: boolean };

const tokenHashOf = (token: string) => createHash('sha256').update(token).digest() as Buffer<ArrayBuffer>;
const isOpen = () => ({ usedAt: null, revokedAt: null, expiresAt: { gt: new Date() } });

/** The invitation behind a token, or null when it does not work (any more). */
export async function readInvite(token: string): Promise<OpenInvite | null> {
  const invite = await prisma().invite.findFirst({
    where: { tokenHash: tokenHashOf(token), ...isOpen() },
    include: { project: true },
  });
  if (invite === null) return null;
  const hasAccount = (await prisma().user.count({ where: { email: invite.email } })) > 0;
  const { email, role, project } = invite;
  return { email, role: role as Role, slug: project.slug, project: project.name, hasAccount };
}

/**
 * Joins the project of an invitation, once: as the signed-in person whose address it is for, or with a new account of
 * that address and this password. Throws AnswerError 403 (used, ended, another person's) or 401 (sign in first).
 */
export async function acceptInvite(input: {
  token: string;
  password: string | null;
  signedInAs: { userId: string; email: string } | null;
}): Promise<{ slug: string; email: string }> {
  const invite = await readInvite(input.token);
  if (invite === null) throw closed();
  const { signedInAs, password } = input;
  if (signedInAs !== null && signedInAs.email !== invite.email) throw forAnother(invite.email);
  if (signedInAs === null && invite.hasAccount) throw signInFirst(invite.email);
  if (signedInAs === null && password === null) throw passwordMissing();
  const passwordHash = signedInAs === null && password !== null ? await hashPassword(password) : null;
  await prisma().$transaction(async (tx) => {
    const where = { tokenHash: tokenHashOf(input.token), ...isOpen() };
    const [used] = await tx.invite.updateManyAndReturn({ where, data: { usedAt: new Date() } });
    if (used === undefined) throw closed();
    const { email, role, projectId } = used;
    const userId = signedInAs?.userId ?? (await tx.user.create({ data: { email, passwordHash: passwordHash! } })).id;
    const membership = { userId, projectId };
    await tx.membership.upsert({
      ...{ where: { userId_projectId: membership }, create: { ...membership, role }, update: {} },
    });
    const entry = { projectId, actor: email, action: 'invite.accept', subject: used.id };
    await tx.auditEntry.create({ data: entry });
  });
  return { slug: invite.slug, email: invite.email };
}

function closed(): AnswerError {
  const hint = 'Ask an owner of the project for a new one; they last 7 days and work once.';
  return new AnswerError({ status: 403, code: 'invite_closed', message: 'This invitation no longer works.', hint });
}

function forAnother(email: string): AnswerError {
  const hint = 'Sign out, then open the link again.';
  return new AnswerError({
    status: 403,
    code: 'invite_for_another',
    message: `This invitation is for ${email}.`,
    hint,
  });
}

function signInFirst(email: string): AnswerError {
  const hint = 'Sign in, then open the link again.';
  return new AnswerError({ status: 401, code: 'sign_in', message: `${email} has an account already.`, hint });
}

function passwordMissing(): AnswerError {
  const hint = 'Choose a password of at least 8 characters.';
  return new AnswerError({ status: 400, code: 'invalid', message: 'password: is missing.', hint });
}
