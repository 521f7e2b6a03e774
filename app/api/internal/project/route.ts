import { viewerForApi } from '@/lib/auth/viewer';
import { changeProject } from '@/lib/commands/changeProject';
import { loadProjectSettings } from '@/lib/queries/loadProjectSettings';
import { answer, readJson } from '../answer';

/** Changes name, zone or retention. */
export async function PATCH(request: Request): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    await changeProject({ viewer, input: await readJson(request) });
    return loadProjectSettings({ viewer });
  });
}
