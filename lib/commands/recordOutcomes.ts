// Outcomes told later: whether an answer was any good, or that what looked fine was not. Each is a correction.

import { z } from 'zod';
import { OUTCOMES } from '../core/terms';
import { addCounts } from '../db/counts';
import { timeOfId } from '../db/readRequests';
import { AnswerError } from '../platform/errors';
import { type Correction, correctRequests } from '../rollup/correct';

const MOST = 1_000;
const DAY_US = 86_400e6;
const OLD_DAYS = 35;
/** How far a told start may be off (a clock's skew is corrected when events are stored), and the time in an id. */
const WITHIN_US = 3_600e6;

const outcomeSchema = z
  .object({
    id: z.string().min(1).max(64).optional(),
    traceId: z.string().min(1).max(256).optional(),
    startedAt: z.union([z.iso.datetime({ offset: true }), z.number().min(0).max(8.64e15)]).optional(),
    quality: z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1').nullish(),
    outcome: z.enum(OUTCOMES).nullish(),
  })
  .refine((o) => (o.id === undefined) !== (o.traceId === undefined), 'needs either id or traceId')
  .refine((o) => (o.quality ?? null) !== null || (o.outcome ?? null) !== null, 'tells neither quality nor outcome');
type Outcome = z.infer<typeof outcomeSchema>;

export type OutcomesAnswer = {
  /** Stored, or known already. */
  accepted: number;
  rejected: { index: number; id?: string; path: string; message: string }[];
};

type Refused = { path: string; message: string };

function startedAtUs(outcome: Outcome, nowUs: number): number | Refused {
  const { startedAt, id = '' } = outcome;
  const us = startedAt === undefined ? timeOfId(id) : new Date(startedAt).getTime() * 1_000;
  const refuse = (message: string) => ({ path: 'startedAt', message });
  if (us === null) return refuse('is missing: only the id of a UUIDv7 tells when the request began');
  if (us < nowUs - OLD_DAYS * DAY_US) return refuse(`is more than ${OLD_DAYS} days ago`);
  return us > nowUs + WITHIN_US ? refuse('is in the future') : us;
}

function correctionOf(item: unknown, nowUs: number): Correction | Refused {
  const parsed = outcomeSchema.safeParse(item);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { path: issue!.path.map(String).join('.'), message: issue!.message };
  }
  const { id = null, traceId = null, quality, outcome } = parsed.data;
  const us = startedAtUs(parsed.data, nowUs);
  if (typeof us !== 'number') return us;
  return {
    ...{ id, traceId, startedAtUs: us, withinUs: WITHIN_US },
    change: (stored) => ({ ...stored, quality: quality ?? stored.quality, outcome: outcome ?? stored.outcome }),
  };
}

const MISSING = 'no such request is stored at that time';

/** Records outcomes of stored requests of a project, up to 35 days later. Throws AnswerError 400 when it is no list. */
export async function recordOutcomes(
  projectId: string,
  { input, nowMs }: { input: unknown; nowMs: number },
): Promise<OutcomesAnswer> {
  if (!Array.isArray(input) || input.length > MOST) {
    const hint = `Send an array of at most ${MOST}: [{"id": "…", "startedAt": "…", "quality": 0.9}].`;
    throw new AnswerError({ status: 400, code: 'not_a_list', message: 'The body is no list of outcomes.', hint });
  }
  const rejected: OutcomesAnswer['rejected'] = [];
  const valid: { index: number; correction: Correction }[] = [];
  const refuse = (index: number, { path, message }: Refused) => {
    const id = (input[index] as { id?: unknown } | null)?.id;
    rejected.push({ index, ...(typeof id === 'string' ? { id: id.slice(0, 64) } : {}), path, message });
  };
  input.forEach((item: unknown, index) => {
    const correction = correctionOf(item, nowMs * 1_000);
    if ('change' in correction) valid.push({ index, correction });
    else refuse(index, correction);
  });
  const results = await correctRequests(
    projectId,
    valid.map((v) => v.correction),
  );
  results.forEach((result, i) => {
    if (result === 'not_found') refuse(valid[i]!.index, { path: 'id', message: MISSING });
  });
  addCounts(projectId, { corrected: results.filter((result) => result === 'corrected').length }, nowMs);
  return { accepted: input.length - rejected.length, rejected: rejected.sort((a, b) => a.index - b.index) };
}
