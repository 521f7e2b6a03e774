import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { replaceTermRules } from '@/lib/commands/replaceTermRules';
import { loadRules } from '@/lib/queries/loadRules';

export const dynamic = 'force-dynamic';

/** The term rules in force. */
export function GET(request: Request): Promise<Response> {
  return answer(async () => loadRules({ viewer: await viewerForApi(request, 'read') }));
}

/** Replaces them. Needs a manage key or an owner; they hold for traces closed from then on. */
export function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    return replaceTermRules({ viewer, input: await readJson(request) });
  });
}
