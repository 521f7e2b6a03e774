import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadRequest } from '@/lib/queries/loadRequest';
import { parseRequestLookup } from '@/lib/queries/parseRequests';

export const dynamic = 'force-dynamic';

/** Why was this one slow? `startedAt` makes the look-up quick. */
export async function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const { id } = await context.params;
    const lookup = parseRequestLookup(new URL(request.url).searchParams, { also: ['project'] });
    return answerJson(await loadRequest({ viewer, input: { id, ...lookup } }));
  } catch (error) {
    return answerError(error);
  }
}
