import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadComparison } from '@/lib/queries/loadComparison';
import { parseComparison } from '@/lib/queries/parseComparison';

export const dynamic = 'force-dynamic';

/** What changed between two windows, versions or segments? Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const input = parseComparison(new URL(request.url).searchParams, { also: ['project'] });
    return loadComparison({ viewer, input });
  });
}
