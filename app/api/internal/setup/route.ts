import { z } from 'zod';
import { claimSetup } from '@/lib/auth/claimSetup';
import { requireOwnOrigin } from '@/lib/auth/origin';
import { answerError, answerJson } from '../answer';
import { parseInput } from '../parseInput';

const schema = z.strictObject({
  token: z.string().min(1).max(128),
  email: z
    .string()
    .max(254)
    .regex(/^\s*[^@\s"',]+@[^@\s"',]+\s*$/, 'not an e-mail address'),
  password: z.string().min(8).max(1024),
  project: z.string().trim().min(1).max(64),
});

/** The owner, the first project and its first key, by the one-time link. */
export async function POST(request: Request): Promise<Response> {
  try {
    requireOwnOrigin(request);
    return answerJson(await claimSetup(await parseInput(request, schema)), 201);
  } catch (error) {
    return answerError(error);
  }
}
