import type { Role } from '../core/roles';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';

/** Times are RFC 3339. */
export type MemberLine = { userId: string; email: string; role: Role; since: string };
export type InviteLine = { id: string; email: string; role: Role; createdAt: string; expiresAt: string };
export type Members = { members: MemberLine[]; invites: InviteLine[] };

/** Who may see the viewer's project, and who is invited and has not come yet. Only owners see invitations. */
export async function loadMembers({ viewer }: { viewer: Viewer }): Promise<Members> {
  const { projectId } = viewer;
  const [rows, open] = await Promise.all([
    prisma().membership.findMany({ where: { projectId }, include: { user: true }, orderBy: { createdAt: 'asc' } }),
    viewer.role !== 'owner'
      ? []
      : prisma().invite.findMany({
          where: { projectId, usedAt: null, revokedAt: null, expiresAt: { gt: new Date() } },
          orderBy: { createdAt: 'desc' },
        }),
  ]);
  return {
    members: rows.map(({ userId, user, role, createdAt }) => ({
      ...{ userId, email: user.email, role: role as Role, since: createdAt.toISOString() },
    })),
    invites: open.map(({ id, email, role, createdAt, expiresAt }) => ({
      ...{ id, email, role: role as Role, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
    })),
  };
}
