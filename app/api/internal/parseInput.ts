import type { z } from 'zod';
import { AnswerError } from '@/lib/platform/errors';

/** The JSON body by a schema. Throws AnswerError 400 that names the field. */
export async function parseInput<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const body: unknown = await request.json().catch(() => undefined);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') || 'body';
  const hint = `Correct ${field} and send it again.`;
  throw new AnswerError({ status: 400, code: 'invalid', message: `${field}: ${issue?.message}.`, hint });
}
