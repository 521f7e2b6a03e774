// The first run: an owner and a project must come from somewhere. Either the ISOCHRONE_INIT_* variables name them (no
// hand needed), or a one-time link is printed with which a person makes them.
import { createHash, randomBytes } from 'node:crypto';
import { prisma, type Transaction } from '../db/prisma';
import { type Env, env } from '../platform/env';
import { hashPassword } from './password';

const sha256 = (text: string): Buffer<ArrayBuffer> => createHash('sha256').update(text).digest() as Buffer<ArrayBuffer>;

/**
 * Applies ISOCHRONE_INIT_* (only what is not there yet, so it may stay set), or, while no user exists, makes a new
 * set-up link under `publicUrl` and drops the older ones. `setupUrl` is null when somebody can sign in already.
 */
export async function initialise(publicUrl: string): Promise<{ setupUrl: string | null }> {
  const settings = env();
  if (settings.ISOCHRONE_INIT_EMAIL) await applyInitVariables(settings);
  if ((await prisma().user.count()) > 0) return { setupUrl: null };
  const token = randomBytes(32).toString('base64url');
  await prisma().$transaction([
    prisma().setupLink.deleteMany({ where: { usedAt: null } }),
    prisma().setupLink.create({ data: { tokenHash: sha256(token) } }),
  ]);
  return { setupUrl: `${publicUrl}/setup?token=${token}` };
}

async function applyInitVariables(settings: Env): Promise<void> {
  const email = (settings.ISOCHRONE_INIT_EMAIL ?? '').normalize('NFKC').trim().toLowerCase();
  const slug = settings.ISOCHRONE_INIT_PROJECT ?? 'default';
  const password = settings.ISOCHRONE_INIT_PASSWORD;
  if (!/^[^@\s"',]+@[^@\s"',]+$/.test(email)) throw new Error('ISOCHRONE_INIT_EMAIL is not an e-mail address.');
  if (!/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/.test(slug))
    throw new Error('ISOCHRONE_INIT_PROJECT must be a slug: lower-case letters, digits and hyphens.');
  if (!password || password.length < 8)
    throw new Error('ISOCHRONE_INIT_PASSWORD must have at least 8 characters when ISOCHRONE_INIT_EMAIL is set.');
  const existing = await prisma().user.findUnique({ where: { email } });
  const passwordHash = existing === null ? await hashPassword(password) : '';
  const keys = initKeys(settings);
  await prisma().$transaction(async (tx) => {
    const user = existing ?? (await tx.user.create({ data: { email, passwordHash } }));
    const project = await tx.project.upsert({ where: { slug }, create: { slug, name: slug }, update: {} });
    const membership = { userId: user.id, projectId: project.id };
    const where = { userId_projectId: membership };
    await tx.membership.upsert({ where, create: { ...membership, role: 'owner' }, update: {} });
    for (const key of keys) await addKey(tx, { ...key, projectId: project.id });
  });
}

function initKeys(settings: Env): { scope: string; key: string }[] {
  const given = {
    ingest: settings.ISOCHRONE_INIT_INGEST_KEY,
    read: settings.ISOCHRONE_INIT_READ_KEY,
    manage: settings.ISOCHRONE_INIT_MANAGE_KEY,
  };
  return Object.entries(given).flatMap(([scope, key]) => {
    if (!key) return [];
    if (key.length < 32)
      throw new Error(
        `ISOCHRONE_INIT_${scope.toUpperCase()}_KEY must have at least 32 characters (openssl rand -hex 32).`,
      );
    return [{ scope, key }];
  });
}

async function addKey(tx: Transaction, key: { projectId: string; scope: string; key: string }): Promise<void> {
  const hash = sha256(key.key);
  const data = {
    projectId: key.projectId,
    name: `initial ${key.scope} key`,
    scope: key.scope,
    prefix: key.key.slice(0, 8),
  };
  const known = await tx.apiKey.findUnique({ where: { hash } });
  if (known === null) return void (await tx.apiKey.create({ data: { ...data, hash } }));
  if (known.projectId !== key.projectId || known.scope !== key.scope)
    throw new Error(`ISOCHRONE_INIT_${key.scope.toUpperCase()}_KEY is in use for something else: choose another.`);
}
