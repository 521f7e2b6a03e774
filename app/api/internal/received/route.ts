import { viewerForApi } from '@/lib/auth/viewer';
import { loadReceived } from '@/lib/queries/loadReceived';
import { answerError, answerJson } from '../answer';

/** Whether anything was received yet: what the page of an empty project waits for. */
export async function GET(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'read');
    return answerJson(await loadReceived({ viewer }));
  } catch (error) {
    return answerError(error);
  }
}
