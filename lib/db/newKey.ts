import { createHash, randomBytes } from 'node:crypto';

/** A fresh key of 256 random bits. `key` is shown once; only `hash` (SHA-256) and the readable `prefix` are stored. */
export function newKey(scope: string): { key: string; hash: Buffer<ArrayBuffer>; prefix: string } {
  const key = `iso_${scope}_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(key).digest() as Buffer<ArrayBuffer>;
  return { key, hash, prefix: key.slice(0, scope.length + 9) };
}
