import { prisma } from './prisma';

export type StoredVersion = { version: number; effectiveFrom: Date; document: unknown };
type Kind = 'floors' | 'baselines';

/** The newest version in force at an instant; null when none was ever set. */
export async function versionAt(kind: Kind, projectId: string, at: Date): Promise<StoredVersion | null> {
  const question = { where: { projectId, effectiveFrom: { lte: at } }, orderBy: { version: 'desc' } } as const;
  return kind === 'floors' ? prisma().floorVersion.findFirst(question) : prisma().baselineVersion.findFirst(question);
}

/** Adds a version in force from now on, with its audit entry, in one transaction. */
export async function addVersion(
  kind: Kind,
  { projectId, actor, document }: { projectId: string; actor: string; document: object },
): Promise<StoredVersion> {
  return prisma().$transaction(async (tx) => {
    // The project's row is the lock: two versions made at once get two numbers.
    await tx.$queryRaw`SELECT id FROM project WHERE id = ${projectId}::uuid FOR UPDATE`;
    const newest = { where: { projectId }, orderBy: { version: 'desc' } } as const;
    const before =
      kind === 'floors' ? await tx.floorVersion.findFirst(newest) : await tx.baselineVersion.findFirst(newest);
    const data = { projectId, version: (before?.version ?? 0) + 1, document, createdBy: actor };
    const added =
      kind === 'floors' ? await tx.floorVersion.create({ data }) : await tx.baselineVersion.create({ data });
    await tx.auditEntry.create({
      data: { projectId, actor, action: `${kind}.replace`, subject: `version ${added.version}`, detail: document },
    });
    return added;
  });
}
