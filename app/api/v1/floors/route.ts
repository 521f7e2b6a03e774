import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { replaceFloors } from '@/lib/commands/replaceFloors';
import { loadLeverContext } from '@/lib/queries/loadLeverContext';

export const dynamic = 'force-dynamic';

/** The floors in force. */
export function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const { overrides, deployableRegions, floorsVersion } = await loadLeverContext({ viewer });
    return { overrides, deployableRegions, version: floorsVersion };
  });
}

/** Replaces them. Needs a manage key or an owner; visible to the next read. */
export function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    return replaceFloors({ viewer, input: await readJson(request) });
  });
}
