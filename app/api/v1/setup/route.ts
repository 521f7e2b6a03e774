import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadSetup } from '@/lib/queries/loadSetup';
import { parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** How far is this project with the method? Query parameters: docs/api.md; the vantage is not asked about. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const input = parseScope(new URL(request.url).searchParams, { also: ['project'] });
    return loadSetup({ viewer, input });
  });
}
