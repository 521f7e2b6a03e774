import { createHash } from 'node:crypto';
import { normaliseEmail } from '../core/email';
import { newKey } from '../db/newKey';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { hashPassword } from './password';

export type SetupInput = { token: string; email: string; password: string; project: string };

const tokenHashOf = (token: string) => createHash('sha256').update(token).digest() as Buffer<ArrayBuffer>;

/** Whether a set-up link still works. */
export async function isSetupLinkOpen(token: string): Promise<boolean> {
  const link = await prisma().setupLink.findUnique({ where: { tokenHash: tokenHashOf(token) } });
  return link !== null && link.usedAt === null && (await prisma().user.count()) === 0;
}

/**
 * Makes the owner, the first project and its first ingest key with a set-up link, once. `project` is a display name;
 * the answer's `key` is shown only now. Throws AnswerError 403 for a used or unknown link.
 */
export async function claimSetup(input: SetupInput): Promise<{ slug: string; key: string }> {
  if (!(await isSetupLinkOpen(input.token))) throw closed();
  const passwordHash = await hashPassword(input.password);
  const email = normaliseEmail(input.email);
  const slug = slugOf(input.project);
  const { key, hash, prefix } = newKey('ingest');
  await prisma().$transaction(async (tx) => {
    const where = { tokenHash: tokenHashOf(input.token), usedAt: null };
    const used = await tx.setupLink.updateMany({ where, data: { usedAt: new Date() } });
    if (used.count === 0) throw closed();
    const user = await tx.user.create({ data: { email, passwordHash } });
    const project = await tx.project.create({ data: { slug, name: input.project.trim() } });
    await tx.membership.create({ data: { userId: user.id, projectId: project.id, role: 'owner' } });
    const data = { projectId: project.id, name: 'first ingest key', scope: 'ingest', hash, prefix };
    await tx.apiKey.create({ data });
    await tx.auditEntry.create({ data: { projectId: project.id, actor: email, action: 'set_up', subject: slug } });
  });
  return { slug, key };
}

/** A slug of at most 64 characters from a display name. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '');
  return slug === '' || ['api', 'docs', 'invite', 'setup', 'sign-in', 'healthz'].includes(slug) ? 'project' : slug;
}

function closed(): AnswerError {
  const hint = 'Sign in, or restart Isochrone for a new link while nobody has an account.';
  return new AnswerError({ status: 403, code: 'setup_closed', message: 'This set-up link no longer works.', hint });
}
