import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireOwnOrigin } from '@/lib/auth/origin';
import { hashPassword, verifyPassword } from '@/lib/auth/password';
import { readSession, revokeSession, sessionCookieName } from '@/lib/auth/session';
import { refuseWhenThrottled, type SignedIn, signIn } from '@/lib/auth/signIn';
import { viewerForApi } from '@/lib/auth/viewer';
import { createTestDatabase, type TestDatabase } from '../support/database';

const EMAIL = 'owner@example.com';
const PASSWORD = 'correct horse battery';
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(`INSERT INTO app_user (id, email, password_hash) VALUES (gen_random_uuid(), $1, $2)`, [
    EMAIL,
    await hashPassword(PASSWORD),
  ]);
  await database.query(
    `INSERT INTO project (id, slug, name) SELECT gen_random_uuid(), s, s FROM unnest($1::text[]) s`,
    [['own', 'foreign']],
  );
  await database.query(
    `INSERT INTO membership (user_id, project_id, role)
     SELECT u.id, p.id, 'member' FROM app_user u, project p WHERE p.slug = 'own'`,
  );
});
afterAll(() => database.drop());

const attempt = (password: string, address: string, email = EMAIL) => ({ email, password, address });

async function cookieOf(signed: SignedIn, version = signed.version): Promise<string> {
  const secret = process.env.ISOCHRONE_SECRET ?? '';
  return `${sessionCookieName()}=${await encode({ token: { sid: signed.sid, version }, secret })}`;
}

async function signedIn(address: string): Promise<SignedIn> {
  const signed = await signIn(attempt(PASSWORD, address));
  if (signed === null) throw new Error('The right password was refused.');
  return signed;
}

describe('passwords', () => {
  it('match only themselves; no stored hash says no', async () => {
    const stored = await hashPassword(PASSWORD);
    expect(stored).not.toContain(PASSWORD);
    expect(await verifyPassword(PASSWORD, stored)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, stored)).toBe(false);
    expect(await verifyPassword(PASSWORD, null)).toBe(false);
  });
});

describe('sessions', () => {
  it('are read from the row: a revoked one, an old version and a forged token are nobody', async () => {
    const signed = await signedIn('10.0.0.1');
    const cookie = await cookieOf(signed);
    expect(await readSession(cookie)).toMatchObject({ email: EMAIL, sessionId: signed.sid });
    expect(await readSession(await cookieOf(signed, signed.version + 1))).toBeNull();
    expect(await readSession(`${cookie.slice(0, -4)}AAAA`)).toBeNull();
    await revokeSession(signed.sid);
    expect(await readSession(cookie)).toBeNull();
  });

  it('end when the version of the person is raised', async () => {
    const cookie = await cookieOf(await signedIn('10.0.0.2'));
    await database.query('UPDATE app_user SET session_version = session_version + 1');
    expect(await readSession(cookie)).toBeNull();
  });

  it('open only the projects of their person, and settings only to owners', async () => {
    const headers = { cookie: await cookieOf(await signedIn('10.0.0.3')) };
    const ask = (query: string) => new Request(`http://localhost/api/v1/breakdown${query}`, { headers });
    expect(await viewerForApi(ask('?project=own'), 'read')).toMatchObject({ projectSlug: 'own', role: 'member' });
    await expect(viewerForApi(ask('?project=own'), 'manage')).rejects.toMatchObject({ status: 403 });
    await expect(viewerForApi(ask('?project=foreign'), 'read')).rejects.toMatchObject({ status: 404 });
    await expect(viewerForApi(ask(''), 'read')).rejects.toMatchObject({ status: 400 });
    const stranger = new Request('http://localhost/api/v1/breakdown?project=own');
    await expect(viewerForApi(stranger, 'read')).rejects.toMatchObject({ status: 401 });
  });
});

describe('throttling', () => {
  it('after five failures the account is refused with a time to wait, even with the right password', async () => {
    const email = 'nobody@example.com';
    for (let i = 0; i < 5; i++) {
      await refuseWhenThrottled(attempt('wrong', `10.1.0.${i}`, email));
      expect(await signIn(attempt('wrong', `10.1.0.${i}`, email))).toBeNull();
    }
    const refused = refuseWhenThrottled(attempt('wrong', '10.1.0.9', email));
    await expect(refused).rejects.toMatchObject({ status: 429, retryAfterS: expect.any(Number) });
    await refuseWhenThrottled(attempt(PASSWORD, '10.1.0.9'));
  });
});

describe('writes with a cookie', () => {
  const write = (headers: Record<string, string>) =>
    new Request('http://localhost:3000/api/internal/keys', {
      method: 'POST',
      headers: { host: 'localhost:3000', 'content-type': 'application/json', ...headers },
    });
  it.each([
    [{}, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://localhost:3000', 'content-type': 'text/plain' }, 415],
  ])('%o are refused with %i', (headers, status) => {
    expect(() => requireOwnOrigin(write(headers as Record<string, string>))).toThrow(
      expect.objectContaining({ status }),
    );
  });
  it('from our own pages pass', () => {
    requireOwnOrigin(write({ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }));
  });
});
