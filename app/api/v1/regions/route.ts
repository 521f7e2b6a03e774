import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadRegions } from '@/lib/queries/loadRegions';
import { parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** Who is far away, and what would moving gain? Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const input = parseScope(new URL(request.url).searchParams, { also: ['project'] });
    return loadRegions({ viewer, input });
  });
}
