import { oneOf } from './parseQuantiles';
import { badParameter, parseScope, type Scope } from './scope';

/** What only this question has. */
export const MODELS_PARAMETERS = ['current', 'stage', 'beforeFrom', 'beforeTo'] as const;
/** Tables that the answer may be had as. */
export const MODELS_TABLES = ['models', 'hosts', 'swaps', 'matched', 'abandonment', 'bins', 'causes', 'cache'] as const;
export type ModelsTable = (typeof MODELS_TABLES)[number];

export type ModelsInput = Scope & {
  /** "provider/model" that others are held against; null: the one with the most requests. */
  current: string | null;
  /** Hosts are compared by the calls of this stage; null: by whole requests. */
  stage: string | null;
  /** An earlier window, to tell why the current model changed. Half-open, µs since the epoch; null: as long before. */
  before: { fromUs: number; toUs: number } | null;
};

/** Query parameters of `GET /api/v1/models`. Throws 400. `also`: read by the caller. */
export function parseModels(params: URLSearchParams, options: { also?: readonly string[] } = {}): ModelsInput {
  const scope = parseScope(params, { also: [...MODELS_PARAMETERS, ...(options.also ?? [])] });
  return { ...scope, ...parseModelChoices(params), before: beforeOf(params) };
}

/** `current` and `stage` alone. */
export function parseModelChoices(params: URLSearchParams): Pick<ModelsInput, 'current' | 'stage'> {
  return { current: params.get('current') || null, stage: params.get('stage') || null };
}

/** Which table is wanted as CSV. Throws 400. */
export function parseModelsTable(params: URLSearchParams): ModelsTable {
  return oneOf(params, 'table', MODELS_TABLES) ?? 'models';
}

function beforeOf(params: URLSearchParams): ModelsInput['before'] {
  const [from, to] = [params.get('beforeFrom'), params.get('beforeTo')];
  if (!from && !to) return null;
  if (!from || !to) {
    const name = from ? 'beforeTo' : 'beforeFrom';
    throw badParameter(name, 'is missing', 'Give both beforeFrom and beforeTo, or neither.');
  }
  const { fromUs, toUs } = parseScope(new URLSearchParams({ from, to }));
  return { fromUs, toUs };
}
