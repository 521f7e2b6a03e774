import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';

export type ProjectSettings = {
  name: string;
  timeZone: string;
  /** Asked for, and not taken over yet. */
  wantedTimeZone: string | null;
  /** Days that single requests and the tiers of the roll-ups are kept. */
  retention: { rawDays: number; fiveMinuteDays: number; hourDays: number; dayDays: number };
  /** How much lower (a share) success may be at the worst for a swap of models to be recommended. */
  successDropMax: number;
};

/** What can be set of the viewer's project. */
export async function loadProjectSettings({ viewer }: { viewer: Viewer }): Promise<ProjectSettings> {
  const row = await prisma().project.findUniqueOrThrow({ where: { id: viewer.projectId } });
  const { name, timeZone, wantedTimeZone, rawDays, fiveMinuteDays, hourDays, dayDays, successDropMax } = row;
  const retention = { rawDays, fiveMinuteDays, hourDays, dayDays };
  return { name, timeZone, wantedTimeZone, retention, successDropMax };
}
