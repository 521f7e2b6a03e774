import { z } from 'zod';
import { LEVERS } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { addVersion } from '../db/leverVersions';
import { AnswerError } from '../platform/errors';

const name = z.string().min(1).max(200);

const overrideSchema = z.strictObject({
  lever: z.enum(LEVERS),
  endpoint: name.optional(),
  clientRegion: name.optional(),
  serviceRegion: name.optional(),
  stage: name.optional(),
  floorMs: z.number().min(0).max(86_400_000),
});

/** Body of `PUT /api/v1/floors`: replaces all overrides, and the deployable regions when they are given. */
export const floorsSchema = z.strictObject({
  overrides: z.array(overrideSchema).max(500),
  deployableRegions: z.array(name).max(300).optional(),
});
export type Floors = z.infer<typeof floorsSchema>;

/** Replaces the project's floors by a new version, in force at the next read. Throws 400 naming the field, 403. */
export async function replaceFloors({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: unknown;
}): Promise<Floors & { version: number }> {
  if (viewer.role !== 'owner') {
    const hint = 'Use a manage key, or ask an owner of the project.';
    throw new AnswerError({ status: 403, code: 'role', message: 'Floors are set by owners.', hint });
  }
  const parsed = floorsSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
    const hint = 'Send {"overrides": [{"lever": "queue", "floorMs": 20}], "deployableRegions": ["eu-west-2"]}.';
    throw new AnswerError({ status: 400, code: 'invalid', message, hint });
  }
  const actor = viewer.userId ?? `key ${viewer.keyId}`;
  const { version } = await addVersion('floors', { projectId: viewer.projectId, actor, document: parsed.data });
  return { ...parsed.data, version };
}
