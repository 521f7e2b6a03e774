import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadTrust } from '@/lib/queries/loadTrust';
import { parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** Can these numbers be trusted? Query parameters: docs/api.md. Needs a read key, or a session with ?project=. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const input = parseScope(new URL(request.url).searchParams, { also: ['project'] });
    return answerJson(await loadTrust({ viewer, input }));
  } catch (error) {
    return answerError(error);
  }
}
