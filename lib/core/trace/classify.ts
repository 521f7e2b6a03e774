// What a span is, from its attributes and name alone. What its own time is called depends on where it stands, too: that is
// path.ts.

import {
  AI_SDK_OPERATIONS,
  CALLER_ATTRIBUTES,
  COLD_START_NAME,
  CONNECTION_NAME,
  FRAMEWORK_SCOPE,
  LIBRARY_KINDS,
  MODEL_NAMES,
  MODEL_PATHS,
  type ModelStage,
  OPERATIONS,
  QUEUE_NAME,
  ROUTING_NAME,
  SPAN_STAGES,
} from '../data/conventions';
import { MEASURED_TERMS, type Term } from '../terms';
import type { TermRule } from './attributed';
import { flagOf, pathOf, textOf } from './read';
import type { Span } from './span';

export type Role =
  /** Calls a model, from outside of it. `http`: known by the address alone. */
  | { is: 'call'; stage: ModelStage; http: boolean }
  /** The model's own work, in the process that runs it. */
  | { is: 'compute'; stage: ModelStage }
  | { is: 'tool' | 'retrieval' | 'agent' }
  | { is: 'term'; term: Term }
  /** Takes requests (SERVER) or jobs (CONSUMER). */
  | { is: 'entry' }
  | { is: 'producer' }
  /** Calls something that is no model: HTTP, RPC, a database. */
  | { is: 'client' }
  /** Wraps a handler without being named work. */
  | { is: 'framework' }
  | { is: 'work' };

const TERM_NAMES: Readonly<Record<string, Term>> = Object.fromEntries(
  [...MEASURED_TERMS, 'unattributed' as const, 'decode' as const].flatMap((term) => [
    [term.toLowerCase(), term],
    [term.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), term],
  ]),
);

/** A term by its name in either way of writing (`coldStart`, `cold_start`); null when it is none. */
export function parseTerm(name: string | null): Term | null {
  return name === null ? null : (TERM_NAMES[name.trim().toLowerCase()] ?? null);
}

/** What the rules and `isochrone.term` say of a span's own time; null when nothing does. */
export function toldTerm(span: Span, rules: readonly TermRule[]): Term | 'ignore' | null {
  const ruled = ruleFor(span, rules, 'term');
  if (ruled === 'ignore') return 'ignore';
  return ruled ?? parseTerm(textOf(span.attributes, 'isochrone.term'));
}

/** What the first matching rule that sets this says. */
export function ruleFor<K extends keyof TermRule['set']>(
  span: Span,
  rules: readonly TermRule[],
  what: K,
): NonNullable<TermRule['set'][K]> | null {
  return rules.find((rule) => rule.set[what] !== undefined && matches(span, rule))?.set[what] ?? null;
}

function matches(span: Span, rule: TermRule): boolean {
  return rule.when.every(({ attribute, is, value }) => {
    const told =
      attribute === 'span.name' ? span.name : (textOf(span.attributes, attribute) ?? textOf(span.resource, attribute));
    if (told === null) return false;
    if (is === 'present') return true;
    return is === 'equal' ? told === value : value !== undefined && told.startsWith(value);
  });
}

/** What a span is. */
export function classify(span: Span): Role {
  const stage = stageOf(span);
  if (stage !== null) {
    if (stage === 'tool' || stage === 'retrieval' || stage === 'agent') return { is: stage };
    return isComputed(span) ? { is: 'compute', stage } : { is: 'call', stage, http: false };
  }
  if (span.kind === 'producer') return { is: 'producer' };
  if (span.kind === 'server' || span.kind === 'consumer') return { is: 'entry' };
  const named = termByName(span);
  if (named !== null) return { is: 'term', term: named };
  if (span.kind === 'client') return httpRole(span);
  return FRAMEWORK_SCOPE.test(span.scope) || 'express.type' in span.attributes ? { is: 'framework' } : { is: 'work' };
}

function stageOf(span: Span): ModelStage | 'tool' | 'retrieval' | 'agent' | null {
  const { attributes } = span;
  const sdk = AI_SDK_OPERATIONS[textOf(attributes, 'ai.operationId') ?? ''];
  if (sdk !== undefined) return sdk;
  const operation = textOf(attributes, 'gen_ai.operation.name');
  if (operation !== null) return OPERATIONS[operation] ?? (textOf(attributes, ...MODEL_NAMES) ? 'llm' : null);
  const library = textOf(attributes, 'openinference.span.kind', 'langfuse.observation.type', 'traceloop.span.kind');
  const kind = library === null ? undefined : LIBRARY_KINDS[library.toLowerCase()];
  if (kind !== undefined) return kind;
  const byName = SPAN_STAGES[span.name];
  if (byName !== undefined && Object.keys(attributes).length > 0) return byName;
  if (textOf(attributes, 'gen_ai.request.model', 'langfuse.observation.model.name') === null) return null;
  return textOf(attributes, 'llm.request.type') === 'embedding' ? 'embed' : 'llm';
}

/** A model's own span: SERVER (vLLM) or INTERNAL, unless a client library made it around a call to elsewhere. */
function isComputed(span: Span): boolean {
  if (span.kind === 'server') return true;
  if (span.kind === 'client' || span.kind === 'producer' || span.kind === 'consumer') return false;
  if (CALLER_ATTRIBUTES.some((name) => name in span.attributes) || span.name in SPAN_STAGES) return false;
  return textOf(span.attributes, 'gen_ai.operation.name') === null;
}

function termByName(span: Span): Term | null {
  if (CONNECTION_NAME.test(span.name) || /instrumentation[-.](net|dns)\b/.test(span.scope)) return 'connection';
  if (span.kind === 'client') return null;
  if (COLD_START_NAME.test(span.name)) return 'coldStart';
  if (textOf(span.attributes, 'bullmq.queue.operation', 'messaging.operation.type') !== null) return null;
  if (QUEUE_NAME.test(span.name)) return 'queue';
  return ROUTING_NAME.test(span.name) && !FRAMEWORK_SCOPE.test(span.scope) ? 'routing' : null;
}

function httpRole(span: Span): Role {
  const path = pathOf(span);
  const method = textOf(span.attributes, 'http.request.method', 'http.method');
  if (path === null || method === null || method.toUpperCase() !== 'POST') return { is: 'client' };
  const stage = MODEL_PATHS.find(([pattern]) => pattern.test(path))?.[1];
  return stage === undefined ? { is: 'client' } : { is: 'call', stage, http: true };
}

/** Whether a call streams: true or false where something says so, else null. */
export function streamsOf(span: Span): boolean | null {
  const told = flagOf(span.attributes, 'gen_ai.request.stream', 'gen_ai.is_streaming', 'llm.is_streaming');
  if (told !== null) return told;
  const operation = textOf(span.attributes, 'ai.operationId') ?? '';
  if (operation.endsWith('doStream')) return true;
  if (/do(Generate|Embed|Rerank|Transcribe)$/.test(operation)) return false;
  const contentType = textOf(span.attributes, 'http.response.header.content-type');
  if (contentType !== null) return contentType.includes('event-stream') || contentType.includes('ndjson');
  return /embed|rerank/i.test(textOf(span.attributes, 'gen_ai.operation.name') ?? pathOf(span) ?? '') ? false : null;
}
