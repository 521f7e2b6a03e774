// Sign-in with e-mail and password. At most 5 failures in 15 minutes per account and per address; each attempt counts
// as a failure before the password is looked at, so that attempts side by side cannot outrun the limit.
import { normaliseEmail } from '../core/email';
import { prisma } from '../db/prisma';
import { env } from '../platform/env';
import { AnswerError } from '../platform/errors';
import { verifyPassword } from './password';
import { createSession } from './session';

const FAILURES_MAX = 5;
const WINDOW_MS = 15 * 60_000;

export type SignedIn = { id: string; email: string; sid: string; version: number };

/** The client's address: the entry TRUSTED_HOPS + 1 from the right of X-Forwarded-For (ours is appended last). */
export function clientAddress(forwardedFor: string | null | undefined): string {
  const entries = (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  return entries.at(-1 - env().TRUSTED_HOPS) ?? entries[0] ?? '';
}

/** Throws AnswerError 429 when the account or the address has failed too often. */
export async function refuseWhenThrottled(attempt: { email: string; address: string }): Promise<void> {
  for (const subject of subjectsOf(attempt)) {
    const failures = await prisma().signInFailure.findMany({
      where: { subject, at: { gt: new Date(Date.now() - WINDOW_MS) } },
      orderBy: { at: 'desc' },
      take: FAILURES_MAX,
    });
    const oldest = failures[FAILURES_MAX - 1];
    if (oldest === undefined) continue;
    const retryAfterS = Math.max(1, Math.ceil((oldest.at.getTime() + WINDOW_MS - Date.now()) / 1000));
    throw new AnswerError({
      status: 429,
      code: 'too_many_failures',
      message: 'Too many failed sign-ins.',
      hint: `Try again in ${Math.ceil(retryAfterS / 60)} min.`,
      retryAfterS,
    });
  }
}

/** The person with a new session, or null for a wrong e-mail or password. Both cost the same time. */
export async function signIn(attempt: { email: string; password: string; address: string }): Promise<SignedIn | null> {
  const subjects = subjectsOf(attempt);
  const marks = await prisma().signInFailure.createManyAndReturn({ data: subjects.map((subject) => ({ subject })) });
  const ids = marks.map((mark) => mark.id);
  const since = new Date(Date.now() - WINDOW_MS);
  for (const subject of subjects) {
    const attempts = await prisma().signInFailure.count({ where: { subject, at: { gt: since } } });
    if (attempts <= FAILURES_MAX) continue;
    await prisma().signInFailure.deleteMany({ where: { id: { in: ids } } });
    return null;
  }
  const email = normaliseEmail(attempt.email);
  const user = await prisma().user.findUnique({ where: { email } });
  const isRight = await verifyPassword(attempt.password.slice(0, 1024), user?.passwordHash ?? null);
  if (user === null || !isRight) return null;
  await prisma().signInFailure.deleteMany({ where: { OR: [{ id: { in: ids } }, { subject: `account:${email}` }] } });
  await prisma().auditEntry.create({ data: { actor: email, action: 'signed_in', subject: email } });
  return { id: user.id, email: user.email, sid: await createSession(user), version: user.sessionVersion };
}

function subjectsOf(attempt: { email: string; address: string }): string[] {
  return [`account:${normaliseEmail(attempt.email).slice(0, 256)}`, `address:${attempt.address}`];
}
