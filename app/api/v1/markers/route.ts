import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { addMarker } from '@/lib/commands/addMarker';
import { loadMarkers } from '@/lib/queries/loadMarkers';
import { parseScope } from '@/lib/queries/scope';

export const dynamic = 'force-dynamic';

/** The markers of a range. */
export function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    return loadMarkers({ viewer, input: parseScope(new URL(request.url).searchParams, { also: ['project'] }) });
  });
}

/** Adds one. Needs a manage key or an owner. */
export function POST(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    return addMarker({ viewer, input: await readJson(request) });
  });
}
