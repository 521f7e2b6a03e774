import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { replaceFloors } from '@/lib/commands/replaceFloors';
import { AnswerError } from '@/lib/platform/errors';
import { loadLeverContext } from '@/lib/queries/loadLeverContext';

export const dynamic = 'force-dynamic';

/** The floors in force. */
export async function GET(request: Request): Promise<Response> {
  try {
    const { overrides, deployableRegions, floorsVersion } = await loadLeverContext({
      viewer: await viewerForApi(request, 'read'),
    });
    return answerJson({ overrides, deployableRegions, version: floorsVersion });
  } catch (error) {
    return answerError(error);
  }
}

/** Replaces them. Needs a manage key or an owner; visible to the next read. */
export async function PUT(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'manage');
    const input: unknown = await request.json().catch(() => {
      throw new AnswerError({
        status: 400,
        code: 'not_json',
        message: 'The body is not JSON.',
        hint: 'Send an object.',
      });
    });
    return answerJson(await replaceFloors({ viewer, input }));
  } catch (error) {
    return answerError(error);
  }
}
