import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { replaceBaselines } from '@/lib/commands/replaceBaselines';
import { loadLeverContext } from '@/lib/queries/loadLeverContext';

export const dynamic = 'force-dynamic';

/** The baselines in force. */
export function GET(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'read');
    const { baselines, baselinesVersion } = await loadLeverContext({ viewer });
    return { baselines, version: baselinesVersion };
  });
}

/** Replaces them. Needs a manage key or an owner; visible to the next read. */
export function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    return replaceBaselines({ viewer, input: await readJson(request) });
  });
}
