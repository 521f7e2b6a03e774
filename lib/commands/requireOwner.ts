import type { Viewer } from '../core/viewer';
import { AnswerError } from '../platform/errors';

/** Throws AnswerError 403 unless the viewer owns the project (a manage key does). */
export function requireOwner(viewer: Viewer): void {
  if (viewer.role === 'owner') return;
  const hint = 'Ask an owner of the project.';
  throw new AnswerError({ status: 403, code: 'role', message: 'Only owners may change settings.', hint });
}
