import { viewerForApi } from '@/lib/auth/viewer';
import { removeDemoProject } from '@/lib/commands/removeDemoProject';
import { AnswerError } from '@/lib/platform/errors';
import { answerError, answerJson } from '../answer';

/** Removes the demo project and its data. */
export async function DELETE(request: Request): Promise<Response> {
  try {
    const viewer = await viewerForApi(request, 'manage');
    const actor = viewer.userId ?? viewer.keyId ?? 'unknown';
    if (!(await removeDemoProject({ slug: viewer.projectSlug, actor }))) {
      const hint = 'Only demo projects are removed this way.';
      throw new AnswerError({ status: 409, code: 'no_demo', message: 'This project is no demo.', hint });
    }
    return answerJson({ removed: viewer.projectSlug });
  } catch (error) {
    return answerError(error);
  }
}
