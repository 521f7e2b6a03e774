// The contract by hand, for the hot path: ten times faster than the schema. It answers only "surely valid" or "ask the
// schema", so a mistake here can cost time but never change what is accepted: what this refuses, `contract` judges and
// words. That both accept exactly the same is a property test all the same (test/pure/ingest/hotCheck.test.ts).

import { CACHES, CONNECTIONS, OUTCOMES, QUEUE_KINDS, VANTAGES } from '../core/terms';
import { type IngestEvent, MAX_CALLS, MAX_DURATION_MS, MAX_TOKENS, MAX_WEIGHT } from './contract';
import { shapeFault } from './shape';

type Check = (value: unknown) => boolean;
type Item = Record<string, unknown>;
/** ES2024, in every Node that runs this; the compiler's library is older. */
type WellFormed = string & { isWellFormed(): boolean };

function text(max: number, min = 0): Check {
  return (value) =>
    typeof value === 'string' &&
    value.length <= max &&
    value.length >= min &&
    !value.includes('\0') &&
    (value as WellFormed).isWellFormed();
}

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

const duration: Check = (value) => typeof value === 'number' && value >= 0 && value <= MAX_DURATION_MS;
const integer =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
function oneOf(values: readonly string[]): Check {
  const set = new Set<unknown>(values);
  return (value) => set.has(value);
}

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const maybeDuration = optional(duration);
const tokens = optional(integer(0, MAX_TOKENS));
const label = optional(text(200));

/** Field → check. Every field of the contract is here; the property test would find a missing one. */
const TERM_CHECKS = checks({
  ...{ connectionMs: maybeDuration, networkMs: maybeDuration, backboneMs: maybeDuration, queueMs: maybeDuration },
  ...{ routingMs: maybeDuration, coldStartMs: maybeDuration, retryMs: maybeDuration, modelHopMs: maybeDuration },
  ...{ modelMs: maybeDuration, applicationMs: maybeDuration },
});
const CALL_CHECKS = checks({
  stage: text(100, 1),
  durationMs: duration,
  ...{ provider: label, model: label, modelRegion: label, startOffsetMs: maybeDuration, ttftMs: maybeDuration },
  ...{ hopMs: maybeDuration, providerQueueMs: maybeDuration, modelMs: maybeDuration },
  ...{ attempts: optional(integer(0, 32_767)), inputTokens: tokens, outputTokens: tokens },
});
const EVENT_CHECKS = checks({
  id: text(64, 1),
  startedAt: (value) => typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)),
  endpoint: text(200, 1),
  e2eMs: duration,
  vantage: optional(oneOf(VANTAGES)),
  outcome: optional(oneOf(OUTCOMES)),
  connection: optional(oneOf(CONNECTIONS)),
  cache: optional(oneOf(CACHES)),
  queueKind: optional(oneOf(QUEUE_KINDS)),
  ...{ environment: label, version: label, clientRegion: label, serviceRegion: label, provider: label, model: label },
  ...{ modelRegion: label, ttftMs: maybeDuration, decodeMs: maybeDuration, serviceMs: maybeDuration },
  ...{ rttMs: maybeDuration, roundTrips: optional(integer(0, 32_767)), inputTokens: tokens, outputTokens: tokens },
  ...{ cachedInputTokens: tokens, inFlight: optional(integer(0, 2_000_000_000)) },
  quality: optional((value) => typeof value === 'number' && value >= 0 && value <= 1),
  weight: optional(integer(1, MAX_WEIGHT)),
  ...{ traceId: optional(text(256)), sessionId: optional(text(256)) },
  terms: () => true,
  calls: () => true,
  attributes: () => true,
});
const REQUIRED = ['id', 'startedAt', 'endpoint', 'e2eMs'] as const;
const ATTRIBUTE_KEY = text(256, 1);
const ATTRIBUTE_VALUE = text(256);

function checks(record: Record<string, Check>): ReadonlyMap<string, Check> {
  return new Map(Object.entries(record));
}

/** How many fields of an object at a depth are not of the contract; −1 when one that is has a value the contract may refuse. */
function walk(item: Item, known: ReadonlyMap<string, Check>, depth: number): number {
  let unknown = 0;
  for (const name in item) {
    const check = known.get(name);
    const value = item[name];
    if (check !== undefined) {
      if (!check(value)) return -1;
      continue;
    }
    if (name === '__proto__') return -1;
    if (typeof value === 'object' && value !== null && shapeFault(value, depth + 1) !== null) return -1;
    unknown++;
  }
  return unknown;
}

function walkCalls(calls: unknown): number {
  if (calls === undefined || calls === null) return 0;
  if (!Array.isArray(calls) || calls.length > MAX_CALLS) return -1;
  let unknown = 0;
  for (const call of calls) {
    if (!isObject(call) || call.stage === undefined || call.durationMs === undefined) return -1;
    const more = walk(call, CALL_CHECKS, 3);
    if (more < 0) return -1;
    unknown += more;
  }
  return unknown;
}

function attributesAreValid(attributes: unknown): boolean {
  if (attributes === undefined || attributes === null) return true;
  if (!isObject(attributes)) return false;
  let count = 0;
  for (const name in attributes) {
    if (++count > 20 || name === '__proto__') return false;
    if (!ATTRIBUTE_KEY(name) || !ATTRIBUTE_VALUE(attributes[name])) return false;
  }
  return true;
}

/**
 * An item that is surely valid, as the event it is (fields that the contract does not know are still there, and counted),
 * or null: then the schema decides.
 */
export function hotCheck(item: unknown): { event: IngestEvent; unknownFields: number } | null {
  if (!isObject(item)) return null;
  for (const name of REQUIRED) if (item[name] === undefined) return null;
  let unknownFields = walk(item, EVENT_CHECKS, 1);
  if (unknownFields < 0) return null;
  const { terms } = item;
  if (terms !== undefined && terms !== null) {
    const more = isObject(terms) ? walk(terms, TERM_CHECKS, 2) : -1;
    if (more < 0) return null;
    unknownFields += more;
  }
  const more = walkCalls(item.calls);
  if (more < 0 || !attributesAreValid(item.attributes)) return null;
  return { event: item as IngestEvent, unknownFields: unknownFields + more };
}
