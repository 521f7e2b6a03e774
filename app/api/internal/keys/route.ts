import { z } from 'zod';
import { KEY_SCOPES } from '@/lib/auth/keys';
import { viewerForApi } from '@/lib/auth/viewer';
import { createKey } from '@/lib/commands/createKey';
import { answerError, answerJson } from '../answer';
import { parseInput } from '../parseInput';

const schema = z.strictObject({
  name: z.string().trim().min(1).max(64),
  scope: z.enum(KEY_SCOPES),
  origins: z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)).max(20),
});

/** A new key; the answer holds it, once. */
export async function POST(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'manage');
    return answerJson(await createKey({ viewer, input: await parseInput(request, schema) }), 201);
  } catch (error) {
    return answerError(error);
  }
}
