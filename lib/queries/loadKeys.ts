import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';

export type KeyLine = {
  id: string;
  name: string;
  scope: string;
  prefix: string;
  origins: string[];
  /** RFC 3339. */
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

/** The keys of the viewer's project, newest first. */
export async function loadKeys(question: { viewer: Viewer }): Promise<KeyLine[]> {
  const rows = await prisma().apiKey.findMany({
    where: { projectId: question.viewer.projectId },
    orderBy: { createdAt: 'desc' },
  });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    scope: row.scope,
    prefix: row.prefix,
    origins: row.origins,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
  }));
}
