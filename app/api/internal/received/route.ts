import { viewerForApi } from '@/lib/auth/viewer';
import { loadOverview } from '@/lib/queries/loadOverview';
import { parseScope } from '@/lib/queries/scope';
import { answerError, answerJson } from '../answer';

const SHORT_MS = 3_600_000;

/** Whether anything was received yet: what the page of an empty project waits for. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const from = new Date(Date.now() - SHORT_MS).toISOString(); // a short range is cheap; the newest event is any
    const { newestEventAt } = await loadOverview({ viewer, input: parseScope(new URLSearchParams({ from })) });
    return answerJson({ newestEventAt });
  } catch (error) {
    return answerError(error);
  }
}
