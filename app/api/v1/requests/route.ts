import { answerError, answerJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { EXPORT_FORMATS, exportRequests } from '@/lib/queries/exportRequests';
import { loadRequests } from '@/lib/queries/loadRequests';
import { parseRequests } from '@/lib/queries/parseRequests';
import { badParameter } from '@/lib/queries/scope';
import { answerText } from './answerText';

export const dynamic = 'force-dynamic';

const MEDIA = { csv: 'text/csv; charset=utf-8; header=present', ndjson: 'application/x-ndjson' } as const;

/** Which requests were slow? Query parameters: docs/api.md; with `format` all of them as a stream. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const params = new URL(request.url).searchParams;
    const input = parseRequests(params, { also: ['project', 'format'] });
    const asked = params.get('format') ?? 'json';
    if (asked === 'json') return answerJson(await loadRequests({ viewer, input }));
    const format = EXPORT_FORMATS.find((one) => one === asked);
    if (format === undefined) throw badParameter('format', 'is not known', 'Use json, csv or ndjson.');
    const name = `requests-${new Date(input.fromUs / 1000).toISOString().slice(0, 10)}.${format}`;
    return await answerText(exportRequests({ viewer, input, format }), { type: MEDIA[format], name });
  } catch (error) {
    return answerError(error);
  }
}
