import { z } from 'zod';
import { TERMS } from '../core/terms';
import type { TermRule } from '../core/trace/attributed';
import { holdsContent } from '../core/trace/keptAttributes';
import type { Viewer } from '../core/viewer';
import { addVersion } from '../db/leverVersions';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

const name = z.string().trim().min(1).max(200);

const conditionSchema = z
  .strictObject({
    attribute: name.refine((attribute) => !holdsContent(attribute), 'may hold what users say, which is never kept'),
    is: z.enum(['equal', 'prefix', 'present']),
    value: z.string().max(256).optional(),
  })
  .refine((condition) => condition.is === 'present' || condition.value, { path: ['value'], message: 'is missing' });

const ruleSchema = z.strictObject({
  when: z.array(conditionSchema).min(1).max(5),
  set: z
    .strictObject({
      term: z.enum([...TERMS, 'ignore']).optional(),
      endpoint: name.optional(),
      region: name.optional(),
    })
    .refine((set) => Object.keys(set).length > 0, 'sets nothing: give a term, an endpoint or a region'),
});

/** Body of `PUT /api/v1/term-rules`: replaces all rules. */
const rulesSchema = z.strictObject({ rules: z.array(ruleSchema).max(200) });

/** Rules from outside. Throws AnswerError 400 naming the field. */
export function parseTermRules(input: unknown): TermRule[] {
  const parsed = rulesSchema.safeParse(input);
  if (parsed.success) return parsed.data.rules as TermRule[];
  const [issue] = parsed.error.issues;
  const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
  const hint =
    'Send {"rules": [{"when": [{"attribute": "span.name", "is": "prefix", "value": "rerank"}], "set": {"term": "application"}}]}.';
  throw new AnswerError({ status: 400, code: 'invalid', message, hint });
}

/** Replaces the project's term rules; they hold for traces that are closed from now on. Throws 400, 403. */
export async function replaceTermRules({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: unknown;
}): Promise<{ rules: TermRule[]; version: number }> {
  requireOwner(viewer);
  const rules = parseTermRules(input);
  const actor = viewer.userId ?? `key ${viewer.keyId}`;
  const { version } = await addVersion('termRules', { projectId: viewer.projectId, actor, document: { rules } });
  return { rules, version };
}
