import { eraseProject } from '../db/eraseProject';
import { prisma } from '../db/prisma';

/**
 * Removes the demonstration project with this slug and all its data; false when there is none. A project that is not a
 * demonstration is never touched.
 */
export async function removeDemoProject({ slug, actor }: { slug: string; actor: string }): Promise<boolean> {
  const project = await prisma().project.findFirst({ where: { slug, isDemo: true } });
  if (project === null) return false;
  await eraseProject(project.id);
  await prisma().auditEntry.create({ data: { actor, action: 'project.remove', subject: slug } });
  return true;
}
