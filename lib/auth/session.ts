// A session is a row: the cookie (a signed token of next-auth) only names it, so revoking the row ends it at once.
import { decode } from 'next-auth/jwt';
import { prisma } from '../db/prisma';
import { env } from '../platform/env';

export const SESSION_MAX_AGE_S = 30 * 24 * 3600;
const TOUCH_MS = 5 * 60_000;

/** The signed-in person, read from the database on each request. */
export type SessionUser = { sessionId: string; userId: string; email: string };

/** Whether people reach us over https; then cookies are Secure and `__Host-`. */
export function isSecure(): boolean {
  return env().ISOCHRONE_URL?.startsWith('https:') ?? false;
}

/** Name of the session cookie. */
export function sessionCookieName(): string {
  return isSecure() ? '__Host-isochrone.session' : 'isochrone.session';
}

/** A new session row of a person; its id and version go into the token. */
export async function createSession(user: { id: string; sessionVersion: number }): Promise<string> {
  const expiresAt = new Date(Date.now() + SESSION_MAX_AGE_S * 1000);
  const row = await prisma().session.create({
    data: { userId: user.id, version: user.sessionVersion, expiresAt },
  });
  return row.id;
}

/** Ends a session; unknown ids are fine. */
export async function revokeSession(sessionId: string): Promise<void> {
  await prisma().session.updateMany({ where: { id: sessionId, revokedAt: null }, data: { revokedAt: new Date() } });
}

/** The person behind a Cookie header, or null when nobody (or no longer anybody) is signed in. */
export async function readSession(cookieHeader: string | null): Promise<SessionUser | null> {
  const token = cookieValue(cookieHeader ?? '', sessionCookieName());
  if (token === null) return null;
  const claims = await decode({ token, secret: env().ISOCHRONE_SECRET }).catch(() => null);
  if (typeof claims?.sid !== 'string') return null;
  const row = await prisma().session.findUnique({ where: { id: claims.sid }, include: { user: true } });
  const now = new Date();
  if (row === null || row.revokedAt !== null || row.expiresAt <= now) return null;
  if (row.version !== row.user.sessionVersion || claims.version !== row.version) return null;
  if (now.getTime() - row.lastSeenAt.getTime() > TOUCH_MS)
    await prisma().session.updateMany({ where: { id: row.id }, data: { lastSeenAt: now } });
  return { sessionId: row.id, userId: row.userId, email: row.user.email };
}

function cookieValue(header: string, name: string): string | null {
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return decodeURIComponent(part.slice(at + 1).trim());
  }
  return null;
}
