import { answerError, answerJson } from '@/app/api/internal/answer';
import { answerCsv } from '@/app/api/internal/answerCsv';
import { viewerForApi } from '@/lib/auth/viewer';
import { latencyGroupsCsv } from '@/lib/queries/latencyCsv';
import { loadLatencyGroups } from '@/lib/queries/loadLatencyGroups';
import { parseLatencyGroups } from '@/lib/queries/parseLatency';

export const dynamic = 'force-dynamic';

/** How slow, for whom? JSON, or CSV with `format=csv`. Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const params = new URL(request.url).searchParams;
    const input = parseLatencyGroups(params, { also: ['project', 'format'] });
    const groups = await loadLatencyGroups({ viewer, input });
    if (params.get('format') !== 'csv') return answerJson(groups);
    return answerCsv(latencyGroupsCsv(groups), `latency-by-${input.groupBy}`);
  } catch (error) {
    return answerError(error);
  }
}
