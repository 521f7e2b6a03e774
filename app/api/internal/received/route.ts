import { viewerForApi } from '@/lib/auth/viewer';
import { loadOverview } from '@/lib/queries/loadOverview';
import { parseScope } from '@/lib/queries/scope';
import { answerError, answerJson } from '../answer';

/** Whether anything was received yet: what the page of an empty project waits for. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    const { newestEventAt } = await loadOverview({ viewer, input: parseScope(new URLSearchParams()) });
    return answerJson({ newestEventAt });
  } catch (error) {
    return answerError(error);
  }
}
