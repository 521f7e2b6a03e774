import { z } from 'zod';
import { AnswerError } from '@/lib/platform/errors';

/** An id of a path; what cannot be one names nothing. Throws AnswerError 404. */
export function uuidOr404(text: string): string {
  if (z.uuid().safeParse(text).success) return text;
  const hint = 'Take it from the list.';
  throw new AnswerError({ status: 404, code: 'not_found', message: 'There is no such entry.', hint });
}
