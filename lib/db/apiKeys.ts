import { pool } from './pool';

export type ApiKeyRow = {
  id: string;
  projectId: string;
  name: string;
  scope: string;
  origins: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
};

/** The key with this SHA-256, or null. Expired and revoked keys are returned: the caller says why they do not work. */
export async function findApiKey(hash: Buffer): Promise<ApiKeyRow | null> {
  const { rows } = await pool().query<ApiKeyRow>(
    `SELECT id, project_id AS "projectId", name, scope, origins, expires_at AS "expiresAt", revoked_at AS "revokedAt"
     FROM api_key WHERE hash = $1`,
    [hash],
  );
  return rows[0] ?? null;
}

/** Notes that a key was used just now. */
export async function touchApiKey(row: Pick<ApiKeyRow, 'id' | 'projectId'>): Promise<void> {
  await pool().query('UPDATE api_key SET last_used_at = now() WHERE id = $1 AND project_id = $2', [
    row.id,
    row.projectId,
  ]);
}
