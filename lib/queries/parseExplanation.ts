import { QUANTILE_KEYS, type QuantileKey } from '../core/estimate';
import { LEVERS, type Lever } from '../core/terms';
import { badParameter, parseScope, type Scope } from './scope';

export type ExplanationInput = { scope: Scope; levers: Lever[]; quantile: QuantileKey };

/** "coldStart" or "coldStart,queue", each known and once. Throws 400. */
export function parseLevers(text: string): Lever[] {
  const names = text.split(',');
  for (const name of names)
    if (!(LEVERS as readonly string[]).includes(name))
      throw badParameter('explain', `"${name.slice(0, 40)}" is no lever`, `Use some of: ${LEVERS.join(', ')}.`);
  return [...new Set(names as Lever[])];
}

/** Throws 400 for an unknown percentile; p99 when none is given. */
export function parseQuantile(text: string | null): QuantileKey {
  if (text === null || text === '') return 'p99';
  const known = QUANTILE_KEYS.find((key) => key === text);
  if (known !== undefined) return known;
  throw badParameter(
    'explainAt',
    `"${text.slice(0, 40)}" is no percentile`,
    `Use one of: ${QUANTILE_KEYS.join(', ')}.`,
  );
}

/** Query parameters of an explanation: those of a scope, `explain` and `explainAt`. Throws 400. */
export function parseExplanation(params: URLSearchParams, nowMs?: number): ExplanationInput {
  const scope = parseScope(params, {
    ...(nowMs === undefined ? {} : { nowMs }),
    also: ['explain', 'explainAt', 'project'],
  });
  const explain = params.get('explain');
  if (!explain) throw badParameter('explain', 'is missing', `Name one lever or several: ${LEVERS.join(', ')}.`);
  return { scope, levers: parseLevers(explain), quantile: parseQuantile(params.get('explainAt')) };
}
