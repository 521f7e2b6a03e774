import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadExplanation } from '@/lib/queries/loadExplanation';
import { parseExplanation } from '@/lib/queries/parseExplanation';

export const dynamic = 'force-dynamic';

/** What is behind a gain: ?explain=coldStart&explainAt=p99 and the shared parameters. Needs a read key or a session. */
export function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    return {
      explanation: await loadExplanation({ viewer, input: parseExplanation(new URL(request.url).searchParams) }),
    };
  });
}
