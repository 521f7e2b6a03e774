import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadBreakdown } from '@/lib/queries/loadBreakdown';
import { parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** Where does the time go? Query parameters: docs/api.md. Needs a read key, or a session with ?project=. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const input = parseScope(new URL(request.url).searchParams, { also: ['project'] });
    return answerJson(await loadBreakdown({ viewer, input }));
  } catch (error) {
    return answerError(error);
  }
}
