import { answer, readJson } from '@/app/api/internal/answer';
import { viewerForApi } from '@/lib/auth/viewer';
import { parseTermRules } from '@/lib/commands/replaceTermRules';
import { previewTermRules } from '@/lib/queries/previewTermRules';

/** What rules would change on recent traces; stores nothing. */
export function POST(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    return previewTermRules({ viewer, input: { rules: parseTermRules(await readJson(request)) } });
  });
}
