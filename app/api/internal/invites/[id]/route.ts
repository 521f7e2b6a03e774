import { viewerForApi } from '@/lib/auth/viewer';
import { revokeInvite } from '@/lib/commands/revokeInvite';
import { answer } from '../../answer';
import { uuidOr404 } from '../../uuidOr404';

/** Withdraws an invitation. */
export async function DELETE(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    const id = uuidOr404((await context.params).id);
    await revokeInvite({ viewer, input: { id } });
    return { revoked: id };
  });
}
