import { answerError, answerJson } from '@/app/api/internal/answer';
import { answerCsv } from '@/app/api/internal/answerCsv';
import { viewerForApi } from '@/lib/auth/viewer';
import { loadModels } from '@/lib/queries/loadModels';
import { modelsCsv } from '@/lib/queries/modelsCsv';
import { parseModels, parseModelsTable } from '@/lib/queries/parseModels';

export const dynamic = 'force-dynamic';

/** Which model, at what cost? JSON, or one of its tables as CSV with `format=csv`. Query parameters: docs/api.md. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const params = new URL(request.url).searchParams;
    const input = parseModels(params, { also: ['project', 'format', 'table'] });
    const table = parseModelsTable(params);
    const models = await loadModels({ viewer, input });
    return params.get('format') === 'csv' ? answerCsv(modelsCsv(models, table), `models-${table}`) : answerJson(models);
  } catch (error) {
    return answerError(error);
  }
}
