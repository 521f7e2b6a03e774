import { z } from 'zod';
import { viewerForApi } from '@/lib/auth/viewer';
import { createInvite } from '@/lib/commands/createInvite';
import { EMAIL_PATTERN } from '@/lib/core/email';
import { ROLES } from '@/lib/core/roles';
import { answerError, answerJson } from '../answer';
import { parseInput } from '../parseInput';

const schema = z.strictObject({
  email: z.string().trim().max(254).regex(EMAIL_PATTERN, 'not an e-mail address'),
  role: z.enum(ROLES),
});

/** An invitation; the answer holds its token, once. */
export async function POST(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'manage');
    return answerJson(await createInvite({ viewer, input: await parseInput(request, schema) }), 201);
  } catch (error) {
    return answerError(error);
  }
}
