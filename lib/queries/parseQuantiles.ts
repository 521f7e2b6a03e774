import { type QuantilesInput, STEPS } from './loadQuantiles';
import { badParameter, parseScope } from './scope';
import { GROUP_BY } from './waits';

/** One of a list, or null when the parameter is absent. Throws 400. */
export function oneOf<T extends string>(params: URLSearchParams, name: string, allowed: readonly T[]): T | null {
  const value = params.get(name);
  if (!value) return null;
  const known = allowed.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw badParameter(name, `"${value.slice(0, 40)}" is not known`, `Use one of: ${allowed.join(', ')}.`);
}

/** Query parameters of `GET /api/v1/quantiles`; p99 when q is not given. Throws 400. `also`: read by the caller. */
export function parseQuantiles(params: URLSearchParams, options: { also?: readonly string[] } = {}): QuantilesInput {
  const { also = [] } = options;
  const scope = parseScope(params, { also: ['q', 'step', 'groupBy', ...also] });
  const q = Number(params.get('q') ?? '0.99');
  if (!(q > 0 && q < 1)) throw badParameter('q', 'is no quantile', 'Give a number between 0 and 1, such as 0.99.');
  return { ...scope, q, step: oneOf(params, 'step', STEPS), groupBy: oneOf(params, 'groupBy', GROUP_BY) };
}
