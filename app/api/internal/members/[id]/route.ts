import { z } from 'zod';
import { viewerForApi } from '@/lib/auth/viewer';
import { changeMember } from '@/lib/commands/changeMember';
import { ROLES } from '@/lib/core/roles';
import { answer } from '../../answer';
import { parseInput } from '../../parseInput';
import { uuidOr404 } from '../../uuidOr404';

const schema = z.strictObject({ role: z.enum(ROLES) });
type Context = { params: Promise<{ id: string }> };

/** Another role for a member. */
export async function PATCH(request: Request, context: Context): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    const userId = uuidOr404((await context.params).id);
    const { role } = await parseInput(request, schema);
    await changeMember({ viewer, input: { userId, role } });
    return { userId, role };
  });
}

/** Takes a member out of the project. */
export async function DELETE(request: Request, context: Context): Promise<Response> {
  return answer(async () => {
    const viewer = await viewerForApi(request, 'manage');
    const userId = uuidOr404((await context.params).id);
    await changeMember({ viewer, input: { userId, role: null } });
    return { removed: userId };
  });
}
