import { createHash, randomBytes } from 'node:crypto';
import { prisma } from '../db/prisma';
import { removeDemoProject } from './removeDemoProject';

export type DemoProject = { projectId: string; ingestKey: string };

/**
 * A fresh, empty demonstration project in the place of the earlier one, visible to everybody who owns a project, with
 * a key to post events. Throws when the slug belongs to a project that is not a demonstration.
 */
export async function replaceDemoProject({ slug, actor }: { slug: string; actor: string }): Promise<DemoProject> {
  const taken = await prisma().project.findUnique({ where: { slug } });
  if (taken !== null && !taken.isDemo)
    throw new Error(`The project "${slug}" is not a demonstration and was left alone; rename it to make room.`);
  await removeDemoProject({ slug, actor });
  const ingestKey = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(ingestKey).digest() as Buffer<ArrayBuffer>;
  const owners = await prisma().membership.findMany({ where: { role: 'owner' }, distinct: ['userId'] });
  const project = await prisma().project.create({
    data: {
      slug,
      name: 'Demo',
      isDemo: true,
      memberships: { create: owners.map((owner) => ({ userId: owner.userId, role: 'owner' })) },
      keys: { create: { name: 'demo', scope: 'ingest', hash, prefix: ingestKey.slice(0, 8) } },
    },
  });
  await prisma().auditEntry.create({ data: { projectId: project.id, actor, action: 'project.create', subject: slug } });
  return { projectId: project.id, ingestKey };
}
