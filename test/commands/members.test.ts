import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptInvite, readInvite } from '@/lib/auth/acceptInvite';
import { readSession } from '@/lib/auth/session';
import { signIn } from '@/lib/auth/signIn';
import { changeMember } from '@/lib/commands/changeMember';
import { createInvite } from '@/lib/commands/createInvite';
import { revokeInvite } from '@/lib/commands/revokeInvite';
import type { Viewer } from '@/lib/core/viewer';
import { loadMembers } from '@/lib/queries/loadMembers';
import { createTestDatabase, type TestDatabase } from '../support/database';

const PASSWORD = 'correct horse battery';
let database: TestDatabase;
let owner: Viewer;
let elsewhere: Viewer;

async function projectWithOwner(slug: string): Promise<Viewer> {
  const [projectId, userId] = [randomUUID(), randomUUID()];
  await database.query('INSERT INTO project (id, slug, name) VALUES ($1, $2, $2)', [projectId, slug]);
  await database.query(`INSERT INTO app_user (id, email, password_hash) VALUES ($1, $2, 'none')`, [
    userId,
    `${slug}@x.org`,
  ]);
  await database.query(`INSERT INTO membership (user_id, project_id, role) VALUES ($1, $2, 'owner')`, [
    userId,
    projectId,
  ]);
  return { projectId, projectSlug: slug, userId, keyId: null, role: 'owner' };
}

beforeAll(async () => {
  database = await createTestDatabase();
  owner = await projectWithOwner('one');
  elsewhere = await projectWithOwner('two');
});
afterAll(() => database.drop());

const invite = (email: string, role: 'owner' | 'member' | 'reader' = 'member', viewer = owner) =>
  createInvite({ viewer, input: { email, role } });
const accept = (token: string, password: string | null = PASSWORD) =>
  acceptInvite({ token, password, signedInAs: null });
const roleOf = async (email: string) => (await loadMembers({ viewer: owner })).members.find((m) => m.email === email);

describe('invitations', () => {
  it('make an account of that address with that role, once', async () => {
    const { token } = await invite(' Ann@Example.com ', 'reader');
    expect(await readInvite(token)).toMatchObject({ email: 'ann@example.com', role: 'reader', hasAccount: false });
    expect((await loadMembers({ viewer: owner })).invites).toMatchObject([
      { email: 'ann@example.com', role: 'reader' },
    ]);
    expect(await accept(token)).toEqual({ slug: 'one', email: 'ann@example.com' });
    expect(await roleOf('ann@example.com')).toMatchObject({ role: 'reader' });
    expect((await loadMembers({ viewer: owner })).invites).toEqual([]);
    expect(await signIn({ email: 'ann@example.com', password: PASSWORD, address: '10.1.0.1' })).not.toBeNull();
    await expect(accept(token)).rejects.toMatchObject({ status: 403, code: 'invite_closed' });
    await expect(invite('ann@example.com')).rejects.toMatchObject({ status: 409 });
  });

  it('only their digest is stored, and two at once use one only once', async () => {
    const { token } = await invite('bob@example.com');
    const stored = await database.query<{ token_hash: Buffer }>('SELECT token_hash FROM invite');
    expect(stored.some((row) => row.token_hash.toString('utf8').includes(token))).toBe(false);
    const both = await Promise.allSettled([accept(token), accept(token)]);
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('end when withdrawn, replaced or old', async () => {
    const first = await invite('cleo@example.com');
    const second = await invite('cleo@example.com');
    expect(await readInvite(first.token)).toBeNull();
    await expect(revokeInvite({ viewer: elsewhere, input: { id: second.id } })).rejects.toMatchObject({ status: 404 });
    await revokeInvite({ viewer: owner, input: { id: second.id } });
    await expect(accept(second.token)).rejects.toMatchObject({ status: 403 });
    const third = await invite('cleo@example.com');
    await database.query(`UPDATE invite SET expires_at = now() - interval '1 s' WHERE id = $1`, [third.id]);
    expect(await readInvite(third.token)).toBeNull();
    await expect(accept(third.token)).rejects.toMatchObject({ status: 403 });
  });

  it('of an address with an account need its sign-in; of another address are refused', async () => {
    const { token } = await invite('two@x.org');
    await expect(accept(token)).rejects.toMatchObject({ status: 401 });
    const ann = { userId: randomUUID(), email: 'ann@example.com' };
    await expect(acceptInvite({ token, password: null, signedInAs: ann })).rejects.toMatchObject({ status: 403 });
    const signedInAs = { userId: elsewhere.userId!, email: 'two@x.org' };
    await acceptInvite({ token, password: null, signedInAs });
    expect(await roleOf('two@x.org')).toMatchObject({ role: 'member' });
    await expect(accept('no such token')).rejects.toMatchObject({ status: 403 });
  });
});

describe('members', () => {
  it('a change of role ends the sessions of that person', async () => {
    const ann = (await roleOf('ann@example.com'))!;
    const signed = await signIn({ email: 'ann@example.com', password: PASSWORD, address: '10.1.0.2' });
    const { encode } = await import('next-auth/jwt');
    const { sessionCookieName } = await import('@/lib/auth/session');
    const token = await encode({
      token: { sid: signed!.sid, version: signed!.version },
      secret: process.env.ISOCHRONE_SECRET ?? '',
    });
    const cookie = `${sessionCookieName()}=${token}`;
    expect(await readSession(cookie)).not.toBeNull();
    await changeMember({ viewer: owner, input: { userId: ann.userId, role: 'owner' } });
    expect(await roleOf('ann@example.com')).toMatchObject({ role: 'owner' });
    expect(await readSession(cookie)).toBeNull();
  });

  it('the last owner stays, also when two owners remove each other at once', async () => {
    const ann = (await roleOf('ann@example.com'))!;
    const annViewer: Viewer = { ...owner, userId: ann.userId };
    const both = await Promise.allSettled([
      changeMember({ viewer: owner, input: { userId: ann.userId, role: null } }),
      changeMember({ viewer: annViewer, input: { userId: owner.userId!, role: 'reader' } }),
    ]);
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    const owners = (await loadMembers({ viewer: owner })).members.filter((m) => m.role === 'owner');
    expect(owners).toHaveLength(1);
    const change = changeMember({ viewer: owner, input: { userId: owners[0]!.userId, role: 'member' } });
    await expect(change).rejects.toMatchObject({ status: 409, code: 'last_owner' });
  });

  it('only owners change, only members of their own project, and it is audited', async () => {
    const reader: Viewer = { ...owner, role: 'reader' };
    const bob = (await roleOf('bob@example.com'))!;
    for (const refused of [
      changeMember({ viewer: reader, input: { userId: bob.userId, role: 'owner' } }),
      invite('eve@example.com', 'owner', reader),
      revokeInvite({ viewer: reader, input: { id: randomUUID() } }),
    ])
      await expect(refused).rejects.toMatchObject({ status: 403 });
    const foreign = changeMember({ viewer: elsewhere, input: { userId: bob.userId, role: null } });
    await expect(foreign).rejects.toMatchObject({ status: 404 });
    await changeMember({ viewer: owner, input: { userId: bob.userId, role: null } });
    expect(await roleOf('bob@example.com')).toBeUndefined();
    const actions = await database.query<{ action: string }>('SELECT DISTINCT action FROM audit_entry ORDER BY action');
    const named = actions.map((row) => row.action);
    for (const action of ['invite.accept', 'invite.create', 'invite.revoke', 'member.remove', 'member.role'])
      expect(named).toContain(action);
  });
});
