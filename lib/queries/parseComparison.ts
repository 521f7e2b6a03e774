import type { ComparisonInput } from './loadComparison';
import { oneOf } from './parseQuantiles';
import { badParameter, parseScope } from './scope';
import { SCOPE_LISTS } from './scopeParameters';

const OWN = ['beforeFrom', 'beforeTo', 'by', 'a', 'b'] as const;

/**
 * Query parameters of `GET /api/v1/compare`: `beforeFrom` and `beforeTo`, or `by` (a dimension) with two values `a` and
 * `b`. Throws 400. `also`: read by the caller.
 */
export function parseComparison(params: URLSearchParams, options: { also?: readonly string[] } = {}): ComparisonInput {
  const after = parseScope(params, { also: [...OWN, ...(options.also ?? [])] });
  const by = oneOf(params, 'by', SCOPE_LISTS);
  const given = (name: (typeof OWN)[number], hint: string) => {
    const value = params.get(name);
    if (!value) throw badParameter(name, 'is missing', hint);
    return value;
  };
  if (by !== null) {
    const hint = `Give two values of ${by}: a and b.`;
    return { before: { ...after, [by]: [given('a', hint)] }, after: { ...after, [by]: [given('b', hint)] } };
  }
  const hint = 'Give beforeFrom and beforeTo, or by with a and b.';
  const window = { from: given('beforeFrom', hint), to: given('beforeTo', hint) };
  const { fromUs, toUs } = parseScope(new URLSearchParams(window));
  return { before: { ...after, fromUs, toUs }, after };
}
