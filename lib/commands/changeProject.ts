import { z } from 'zod';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

const days = (least: number, most: number) => z.number().int().min(least).max(most);

/** What is left out stays. Days as the database allows them. */
export const projectSchema = z.strictObject({
  name: z.string().trim().min(1).max(64).optional(),
  timeZone: z.string().refine(isZone, 'is no IANA time zone').optional(),
  retention: z
    .strictObject({
      rawDays: days(2, 400),
      fiveMinuteDays: days(2, 400),
      hourDays: days(2, 1_200),
      dayDays: days(30, 4_000),
    })
    .optional(),
  /** A share: 0.005 is half a point. */
  successDropMax: z.number().min(0).max(0.2).optional(),
});

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return /^[A-Za-z]/.test(zone);
  } catch {
    return false;
  }
}

/**
 * Changes the viewer's project. A shorter retention holds from the worker's next round (within the hour); another zone
 * when the worker has made the roll-ups anew. Throws AnswerError 400 naming the field, or 403.
 */
export async function changeProject(question: { viewer: Viewer; input: unknown }): Promise<void> {
  const { viewer } = question;
  requireOwner(viewer);
  const parsed = projectSchema.safeParse(question.input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
    const hint =
      'Send {"name", "timeZone": "Europe/Berlin", "retention": {"rawDays", …}, "successDropMax": 0.005}, or some of them.';
    throw new AnswerError({ status: 400, code: 'invalid', message, hint });
  }
  const { name, timeZone, retention, successDropMax } = parsed.data;
  const { projectId } = viewer;
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  await prisma().$transaction(async (tx) => {
    const { timeZone: current } = await tx.project.findUniqueOrThrow({ where: { id: projectId } });
    const zone = timeZone === undefined ? {} : { wantedTimeZone: timeZone === current ? null : timeZone };
    const own = {
      ...(name === undefined ? {} : { name }),
      ...(successDropMax === undefined ? {} : { successDropMax }),
    };
    const data = { ...own, ...zone, ...retention };
    await tx.project.update({ where: { id: projectId }, data });
    const entry = { projectId, actor, action: 'project.change', subject: viewer.projectSlug, detail: parsed.data };
    await tx.auditEntry.create({ data: entry });
  });
}
