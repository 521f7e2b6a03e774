import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';

export type ProjectSummary = { slug: string; name: string; timeZone: string; isDemo: boolean };

/** The viewer's project; null when it was removed a moment ago. */
export async function loadProject(question: { viewer: Viewer }): Promise<ProjectSummary | null> {
  const row = await prisma().project.findUnique({ where: { id: question.viewer.projectId } });
  return row && { slug: row.slug, name: row.name, timeZone: row.timeZone, isDemo: row.isDemo };
}

/** The projects of a person, oldest first; the demo last, so that real data comes first. */
export async function loadProjectsOf(userId: string): Promise<ProjectSummary[]> {
  const rows = await prisma().project.findMany({
    where: { memberships: { some: { userId } } },
    orderBy: [{ isDemo: 'asc' }, { createdAt: 'asc' }],
  });
  return rows.map((row) => ({ slug: row.slug, name: row.name, timeZone: row.timeZone, isDemo: row.isDemo }));
}
