import { z } from 'zod';
import { viewerForApi } from '@/lib/auth/viewer';
import { revokeKey } from '@/lib/commands/revokeKey';
import { AnswerError } from '@/lib/platform/errors';
import { answerError, answerJson } from '../../answer';

/** Revokes a key. */
export async function DELETE(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'manage');
    const { id } = await context.params;
    if (!z.uuid().safeParse(id).success) {
      const hint = 'Take it from the list of keys.';
      throw new AnswerError({ status: 404, code: 'not_found', message: 'There is no such key.', hint });
    }
    await revokeKey({ viewer, input: { id } });
    return answerJson({ revoked: id });
  } catch (error) {
    return answerError(error);
  }
}
