import { answer } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadSelection } from '@/lib/queries/loadSelection';
import { parseBox } from '@/lib/queries/parseLatency';
import { badParameter, parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** What is different about the requests in a box of the heatmap? Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const params = new URL(request.url).searchParams;
    const scope = parseScope(params, { also: ['project', 'box'] });
    const box = parseBox(params.get('box'));
    if (box === null) throw badParameter('box', 'is missing', 'Give from,to,low,high.');
    return loadSelection({ viewer, input: { ...scope, box } });
  });
}
