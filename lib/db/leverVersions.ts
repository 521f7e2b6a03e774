import { prisma, type Transaction } from './prisma';

export type StoredVersion = { version: number; effectiveFrom: Date; document: unknown };

/** Settings that are replaced whole, by a new version; their tables have the same columns. */
const TABLES = { floors: 'floorVersion', baselines: 'baselineVersion', termRules: 'termRuleVersion' } as const;
type Kind = keyof typeof TABLES;

function versionsOf(client: Transaction, kind: Kind): Transaction['floorVersion'] {
  return client[TABLES[kind]] as unknown as Transaction['floorVersion'];
}

/** The newest version in force at an instant; null when none was ever set. */
export async function versionAt(kind: Kind, projectId: string, at: Date): Promise<StoredVersion | null> {
  const where = { projectId, effectiveFrom: { lte: at } };
  return versionsOf(prisma(), kind).findFirst({ where, orderBy: { version: 'desc' } });
}

/** Adds a version in force from now on, with its audit entry, in one transaction. */
export async function addVersion(
  kind: Kind,
  { projectId, actor, document }: { projectId: string; actor: string; document: object },
): Promise<StoredVersion> {
  return prisma().$transaction(async (tx) => {
    // The project's row is the lock: two versions made at once get two numbers.
    await tx.$queryRaw`SELECT id FROM project WHERE id = ${projectId}::uuid FOR UPDATE`;
    const before = await versionsOf(tx, kind).findFirst({ where: { projectId }, orderBy: { version: 'desc' } });
    const data = { projectId, version: (before?.version ?? 0) + 1, document, createdBy: actor };
    const added = await versionsOf(tx, kind).create({ data });
    await tx.auditEntry.create({
      data: { projectId, actor, action: `${kind}.replace`, subject: `version ${added.version}`, detail: document },
    });
    return added;
  });
}
