import { answer, readJson } from '@/app/api/internal/answer';
import { authenticateKey } from '@/lib/auth/keys';
import { recordOutcomes } from '@/lib/commands/recordOutcomes';

export const dynamic = 'force-dynamic';

/** Quality and outcomes of stored requests, told later. Needs a key that writes. */
export function POST(request: Request): Promise<Response> {
  return answer(async () => {
    const { projectId } = await authenticateKey(request.headers, ['ingest', 'manage']);
    return recordOutcomes(projectId, { input: await readJson(request), nowMs: Date.now() });
  });
}
