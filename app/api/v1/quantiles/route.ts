import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadQuantiles } from '@/lib/queries/loadQuantiles';
import { parseQuantiles } from '@/lib/queries/parseQuantiles';

export const dynamic = 'force-dynamic';

/** How did a percentile move over time, by group? Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const input = parseQuantiles(new URL(request.url).searchParams, { also: ['project'] });
    return answerJson(await loadQuantiles({ viewer, input }));
  } catch (error) {
    return answerError(error);
  }
}
