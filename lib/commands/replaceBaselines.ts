import { z } from 'zod';
import type { Viewer } from '../core/viewer';
import { addVersion } from '../db/leverVersions';
import { AnswerError } from '../platform/errors';

const name = z.string().min(1).max(200);

/** Body of `PUT /api/v1/baselines`: replaces all baselines. */
export const baselinesSchema = z.strictObject({
  baselines: z
    .array(
      z.strictObject({
        provider: name,
        model: name,
        modelRegion: name.optional(),
        stage: name.optional(),
        baselineMs: z.number().min(0).max(86_400_000),
        note: z.string().max(500),
      }),
    )
    .max(500),
});
export type Baselines = z.infer<typeof baselinesSchema>;

/** Replaces the project's baselines by a new version, in force at the next read. Throws 400 naming the field, 403. */
export async function replaceBaselines({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: unknown;
}): Promise<Baselines & { version: number }> {
  if (viewer.role !== 'owner') {
    const hint = 'Use a manage key, or ask an owner of the project.';
    throw new AnswerError({ status: 403, code: 'role', message: 'Baselines are set by owners.', hint });
  }
  const parsed = baselinesSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
    const hint =
      'Send {"baselines": [{"provider": "openai", "model": "gpt-4o", "baselineMs": 100, "note": "measured locally"}]}.';
    throw new AnswerError({ status: 400, code: 'invalid', message, hint });
  }
  const actor = viewer.userId ?? `key ${viewer.keyId}`;
  const { version } = await addVersion('baselines', { projectId: viewer.projectId, actor, document: parsed.data });
  return { ...parsed.data, version };
}
