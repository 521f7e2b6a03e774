import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadWhatIf } from '@/lib/queries/loadWhatIf';
import { parseWhatIf } from '@/lib/queries/parseWhatIf';

export const dynamic = 'force-dynamic';

/** What would a set of levers gain together? Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const input = parseWhatIf(new URL(request.url).searchParams, { also: ['project'] });
    return loadWhatIf({ viewer, input });
  });
}
