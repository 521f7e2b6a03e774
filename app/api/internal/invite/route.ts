import { z } from 'zod';
import { acceptInvite } from '@/lib/auth/acceptInvite';
import { requireOwnOrigin } from '@/lib/auth/origin';
import { readSession } from '@/lib/auth/session';
import { answer } from '../answer';
import { parseInput } from '../parseInput';

const schema = z.strictObject({
  token: z.string().min(1).max(128),
  password: z.string().min(8).max(1024).optional(),
});

/** Joins a project by an invitation: as who is signed in, or with a new account. */
export async function POST(request: Request): Promise<Response> {
  return answer(async () => {
    requireOwnOrigin(request);
    const { token, password = null } = await parseInput(request, schema);
    return acceptInvite({ token, password, signedInAs: await readSession(request.headers.get('cookie')) });
  });
}
