import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { setEndpointClasses } from '@/lib/commands/setEndpointClasses';
import { loadEndpointClassList } from '@/lib/queries/loadEndpointClassList';

export const dynamic = 'force-dynamic';

/** What the wait of each endpoint is. */
export async function GET(request: Request): Promise<Response> {
  return answer(async () => ({
    classes: await loadEndpointClassList({ viewer: await viewerForApi(request, 'read') }),
  }));
}

/** Sets some of them. Needs a manage key or an owner; visible to the next read. */
export async function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    await setEndpointClasses({ viewer, input: await readJson(request) });
    return { classes: await loadEndpointClassList({ viewer }) };
  });
}
