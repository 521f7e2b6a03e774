import { answerError, answerJson } from '@/app/api/internal/answer';
import { answerCsv } from '@/app/api/internal/answerCsv';
import { viewerForApi } from '@/lib/auth/viewer';
import { latencyCsv } from '@/lib/queries/latencyCsv';
import { loadLatency } from '@/lib/queries/loadLatency';
import { parseLatency } from '@/lib/queries/parseLatency';

export const dynamic = 'force-dynamic';

/** How slow, over time? JSON, or CSV with `format=csv`. Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const params = new URL(request.url).searchParams;
    const input = parseLatency(params, { also: ['project', 'format'] });
    const latency = await loadLatency({ viewer, input });
    return params.get('format') === 'csv' ? answerCsv(latencyCsv(latency), 'latency') : answerJson(latency);
  } catch (error) {
    return answerError(error);
  }
}
