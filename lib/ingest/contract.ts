// The event as clients send it: durations in ms, missing is null or absent. The schema is the contract of
// POST /api/v1/events; unknown fields are ignored and counted.

import { z } from 'zod';
import { CACHES, CONNECTIONS, OUTCOMES, QUEUE_KINDS, VANTAGES } from '../core/terms';

export const MAX_EVENTS = 5_000;
export const MAX_DEPTH = 8;
export const MAX_DURATION_MS = 7 * 86_400_000;
export const MAX_TOKENS = 1_000_000_000;
export const MAX_CALLS = 64;
export const MAX_WEIGHT = 1_000_000;

const LONE_SURROGATE = /\p{Surrogate}/u;

function text(max: number, min = 0) {
  return z
    .string('must be a string')
    .min(min, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine((s) => !s.includes('\0'), 'must not hold a NUL character: remove it')
    .refine((s) => !LONE_SURROGATE.test(s), 'must be well-formed Unicode: it holds half of a surrogate pair');
}

const duration = z
  .number('must be a number of milliseconds')
  .min(0, 'must not be negative: leave the field out (or null) when it was not measured')
  .max(MAX_DURATION_MS, 'must be at most 7 days: is the unit milliseconds?');
const optionalDuration = duration.nullish();

function integer(min: number, max: number) {
  return z
    .number('must be a number')
    .int('must be a whole number')
    .min(min, `must be at least ${min}: leave the field out (or null) when it is not known`)
    .max(max, `must be at most ${max}`);
}
const tokens = integer(0, MAX_TOKENS).nullish();

const termsSchema = z.object({
  connectionMs: optionalDuration,
  networkMs: optionalDuration,
  backboneMs: optionalDuration,
  queueMs: optionalDuration,
  routingMs: optionalDuration,
  coldStartMs: optionalDuration,
  retryMs: optionalDuration,
  modelHopMs: optionalDuration,
  modelMs: optionalDuration,
  applicationMs: optionalDuration,
});

const callSchema = z.object({
  stage: text(100, 1),
  provider: text(200).nullish(),
  model: text(200).nullish(),
  modelRegion: text(200).nullish(),
  startOffsetMs: optionalDuration,
  durationMs: duration,
  ttftMs: optionalDuration,
  hopMs: optionalDuration,
  providerQueueMs: optionalDuration,
  modelMs: optionalDuration,
  attempts: integer(0, 32_767).nullish(),
  inputTokens: tokens,
  outputTokens: tokens,
});

export const eventSchema = z.object({
  id: text(64, 1),
  startedAt: z.union([z.string(), z.number()], 'must be an RFC 3339 time or milliseconds since 1970'),
  endpoint: text(200, 1),
  vantage: z.enum(VANTAGES).nullish(),
  environment: text(200).nullish(),
  version: text(200).nullish(),
  clientRegion: text(200).nullish(),
  serviceRegion: text(200).nullish(),
  provider: text(200).nullish(),
  model: text(200).nullish(),
  modelRegion: text(200).nullish(),
  outcome: z.enum(OUTCOMES).nullish(),
  e2eMs: duration,
  ttftMs: optionalDuration,
  terms: termsSchema.nullish(),
  queueKind: z.enum(QUEUE_KINDS).nullish(),
  decodeMs: optionalDuration,
  serviceMs: optionalDuration,
  connection: z.enum(CONNECTIONS).nullish(),
  roundTrips: integer(0, 32_767).nullish(),
  rttMs: optionalDuration,
  calls: z.array(callSchema).max(MAX_CALLS, `must hold at most ${MAX_CALLS} calls`).nullish(),
  inputTokens: tokens,
  outputTokens: tokens,
  cachedInputTokens: tokens,
  inFlight: integer(0, 2_000_000_000).nullish(),
  cache: z.enum(CACHES).nullish(),
  quality: z.number('must be a number').min(0, 'must be 0 to 1').max(1, 'must be 0 to 1').nullish(),
  weight: integer(1, MAX_WEIGHT).nullish(),
  traceId: text(256).nullish(),
  sessionId: text(256).nullish(),
  attributes: z
    .record(text(256, 1), text(256))
    .refine((a) => Object.keys(a).length <= 20, 'must hold at most 20 attributes')
    .nullish(),
});

export type IngestEvent = z.infer<typeof eventSchema>;
export type EventTerms = z.infer<typeof termsSchema>;
export type EventCall = z.infer<typeof callSchema>;

const known = {
  event: new Set(Object.keys(eventSchema.shape)),
  terms: new Set(Object.keys(termsSchema.shape)),
  call: new Set(Object.keys(callSchema.shape)),
};

/** How many fields of an item (that passed the schema) the contract does not know. */
export function countUnknownFields(item: Record<string, unknown>): number {
  const count = (object: object, names: Set<string>) => Object.keys(object).filter((k) => !names.has(k)).length;
  let unknown = count(item, known.event);
  if (item.terms) unknown += count(item.terms, known.terms);
  for (const call of (item.calls as object[] | null | undefined) ?? []) unknown += count(call, known.call);
  return unknown;
}
