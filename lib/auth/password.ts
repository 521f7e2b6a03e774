import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// scrypt at the cost OWASP names for it (N = 2^17, r = 8, p = 1); the parameters are kept with each hash.
const COST = { N: 131_072, r: 8, p: 1 };
const KEY_BYTES = 32;
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: MEMORY_BYTES_MAX };
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** "scrypt$N$r$p$salt$key" (base64) for `app_user.password_hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), key.toString('base64')].join('$');
}

/** Whether `password` made `stored`. With `stored` null (no such user) it takes the same time and says no. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [kind, n, r, p, salt, key] = (stored ?? '').split('$');
  if (kind !== 'scrypt' || !n || !r || !p || !salt || !key) {
    await derive(password, Buffer.alloc(16), COST);
    return false;
  }
  const expected = Buffer.from(key, 'base64');
  const actual = await derive(password, Buffer.from(salt, 'base64'), { N: Number(n), r: Number(r), p: Number(p) });
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
