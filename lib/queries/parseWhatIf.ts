import { LEVERS, type Lever } from '../core/terms';
import type { WhatIfInput } from './loadWhatIf';
import { badParameter, parseScope, type Scope } from './scope';

/** What only this question has; `lever` and `floor` any number of times. */
export const WHAT_IF_PARAMETERS = ['lever', 'floor', 'region'] as const;
const OWN: readonly string[] = WHAT_IF_PARAMETERS;

/** Query parameters of `GET /api/v1/what-if`. Throws 400. `also`: read by the caller. */
export function parseWhatIf(params: URLSearchParams, options: { also?: readonly string[] } = {}): WhatIfInput {
  const shared = new URLSearchParams([...params].filter(([name]) => !OWN.includes(name)));
  const scope = parseScope(shared, options);
  return { ...scope, ...parseLevers(params) };
}

/** `lever` any number of times, `floor` as "queue:5" (ms) any number of times, one `region`. Throws 400. */
export function parseLevers(params: URLSearchParams): Omit<WhatIfInput, keyof Scope> {
  const floors: WhatIfInput['floors'] = {};
  for (const text of params.getAll('floor')) {
    const [name = '', number = ''] = text.split(':');
    const floorMs = Number(number);
    if (number === '' || !(floorMs >= 0))
      throw badParameter('floor', `"${text.slice(0, 40)}" is no floor`, 'Give lever:ms, such as model:300.');
    floors[leverOf('floor', name)] = floorMs;
  }
  return {
    levers: [...new Set(params.getAll('lever').map((name) => leverOf('lever', name)))],
    floors,
    region: params.get('region') || null,
  };
}

function leverOf(parameter: string, name: string): Lever {
  const lever = LEVERS.find((known) => known === name);
  if (lever !== undefined) return lever;
  throw badParameter(parameter, `"${name.slice(0, 40)}" is no lever`, `Use one of: ${LEVERS.join(', ')}.`);
}
