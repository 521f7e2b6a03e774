import { z } from 'zod';
import { ENDPOINT_CLASSES } from '../core/endpointClass';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

/** Body of `PUT /api/v1/endpoint-classes`: the listed endpoints change, the others stay. */
export const endpointClassesSchema = z.strictObject({
  classes: z
    .array(
      z.strictObject({
        endpoint: z.string().min(1).max(200),
        /** Null: guessed again. */
        class: z.enum(ENDPOINT_CLASSES).nullable(),
      }),
    )
    .min(1)
    .max(500),
});

/** Sets what the wait of endpoints is, in force at the next read. Throws AnswerError 400 naming the field, or 403. */
export async function setEndpointClasses(question: { viewer: Viewer; input: unknown }): Promise<void> {
  const { viewer } = question;
  requireOwner(viewer);
  const parsed = endpointClassesSchema.safeParse(question.input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
    const hint = 'Send {"classes": [{"endpoint": "/v1/chat", "class": "voice"}]}; null lets it be guessed again.';
    throw new AnswerError({ status: 400, code: 'invalid', message, hint });
  }
  const { projectId } = viewer;
  const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
  await prisma().$transaction(async (tx) => {
    for (const { endpoint, class: wanted } of parsed.data.classes) {
      const key = { projectId, endpoint };
      const data = { class: wanted ?? '', source: 'set', updatedAt: new Date() };
      if (wanted === null) await tx.endpointClass.deleteMany({ where: { ...key, source: 'set' } });
      else
        await tx.endpointClass.upsert({
          where: { projectId_endpoint: key },
          create: { ...key, ...data },
          update: data,
        });
    }
    const detail = { classes: parsed.data.classes };
    await tx.auditEntry.create({
      data: { projectId, actor, action: 'endpoint_classes.set', subject: viewer.projectSlug, detail },
    });
  });
}
