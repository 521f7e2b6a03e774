// Machine credentials. Only the SHA-256 of a key is stored, so presenting the stored hash finds nothing (401).

import { createHash } from 'node:crypto';
import { type ApiKeyRow, findApiKey, touchApiKey } from '../db/apiKeys';
import { AnswerError } from '../platform/errors';
import { singleton } from '../platform/singleton';

export const KEY_SCOPES = ['ingest', 'probe', 'browser', 'read', 'manage'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Who a key speaks for. The project comes from the key alone. */
export type KeyIdentity = { keyId: string; projectId: string; scope: KeyScope; name: string };

type HeaderSource = Headers | Readonly<Record<string, string | string[] | undefined>>;

const CACHE_MS = 4_000;
const CACHE_LIMIT = 5_000;
const TOUCH_MS = 60_000;

function state() {
  return singleton('keys', () => ({
    rows: new Map<string, { row: ApiKeyRow | null; untilMs: number }>(),
    touched: new Map<string, number>(),
  }));
}

/** SHA-256 of a key, as stored. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * The identity behind `Authorization: Bearer <key>` or `x-isochrone-key`, if its scope is one of `scopes`.
 * A revocation works within 5 s. Throws AnswerError 401 (no, unknown, expired or revoked key) or 403 (scope, origin).
 */
export async function authenticateKey(headers: HeaderSource, scopes: readonly KeyScope[]): Promise<KeyIdentity> {
  const key = presentedKey(headers);
  if (key === null) {
    throw unauthorised('No key was sent.', 'Send the header Authorization: Bearer <key>; keys are made in Settings.');
  }
  const row = await lookUp(key);
  if (row === null) throw unauthorised('This key is not known.', 'Check that it was copied whole, or make a new one.');
  const nowMs = Date.now();
  if (row.revokedAt !== null && row.revokedAt.getTime() <= nowMs) {
    throw unauthorised('This key was revoked.', 'Make a new key in Settings.');
  }
  if (row.expiresAt !== null && row.expiresAt.getTime() <= nowMs) {
    throw unauthorised('This key has expired.', 'Make a new key in Settings.');
  }
  const scope = row.scope as KeyScope;
  if (!scopes.includes(scope)) {
    throw new AnswerError({
      status: 403,
      code: 'scope',
      message: `A key with the scope "${scope}" may not do this.`,
      hint: `Use a key with the scope ${scopes.join(' or ')}.`,
    });
  }
  if (scope === 'browser') checkOrigin(headers, row);
  touch(row, nowMs);
  return { keyId: row.id, projectId: row.projectId, scope, name: row.name };
}

/** The value of a header of a Node request or of a Fetch request. */
export function headerOf(headers: HeaderSource, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function presentedKey(headers: HeaderSource): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headerOf(headers, 'authorization') ?? '')?.[1];
  const key = bearer ?? headerOf(headers, 'x-isochrone-key')?.trim() ?? null;
  return key === null || key === '' || key.length > 512 ? null : key;
}

async function lookUp(key: string): Promise<ApiKeyRow | null> {
  const { rows } = state();
  const hash = hashKey(key);
  const name = hash.toString('base64');
  const cached = rows.get(name);
  if (cached && cached.untilMs > Date.now()) return cached.row;
  const row = await findApiKey(hash);
  if (rows.size >= CACHE_LIMIT) rows.clear();
  // An unknown key is not cached: one made a moment ago works at once.
  if (row !== null) rows.set(name, { row, untilMs: Date.now() + CACHE_MS });
  else rows.delete(name);
  return row;
}

function checkOrigin(headers: HeaderSource, row: ApiKeyRow): void {
  const origin = headerOf(headers, 'origin');
  if (origin !== null && row.origins.includes(origin)) return;
  throw new AnswerError({
    status: 403,
    code: 'origin',
    message: `This browser key may not be used from ${origin ?? 'a request without an Origin header'}.`,
    hint: 'Add the origin to the key in Settings, or use an ingest key on servers.',
  });
}

function touch(row: ApiKeyRow, nowMs: number): void {
  const { touched } = state();
  if (nowMs - (touched.get(row.id) ?? Number.NEGATIVE_INFINITY) < TOUCH_MS) return;
  if (touched.size >= CACHE_LIMIT) touched.clear();
  touched.set(row.id, nowMs);
  touchApiKey(row).catch(() => touched.delete(row.id)); // only a courtesy: the next use tries again
}

function unauthorised(message: string, hint: string): AnswerError {
  return new AnswerError({ status: 401, code: 'unauthorised', message, hint });
}
