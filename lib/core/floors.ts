// What is achievable for each lever, and who says so. Floors act at read time: no stored number depends on them.

import type { Lever } from './terms';

/** An absolute floor (ms) for the lever's own term, where all that is given matches. */
export type FloorOverride = {
  lever: Lever;
  endpoint?: string;
  clientRegion?: string;
  serviceRegion?: string;
  stage?: string;
  floorMs: number;
};

/** "The same call takes this long without the hop": evidence assumed. */
export type Baseline = {
  provider: string;
  model: string;
  modelRegion?: string;
  stage?: string;
  baselineMs: number;
  note: string;
};

/** What gains depend on, as in force at one instant. `version` names it in seeds and answers. */
export type LeverContext = {
  overrides: readonly FloorOverride[];
  baselines?: readonly Baseline[];
  /** Round trips (ms, p50) that own probes saw, by `tripName`: the first source there is. */
  probedMs?: ReadonlyMap<string, number>;
  /** Each cell's queue p10 (µs) over the 7 days before `day`, by `cellName`; null: take it from the requests in view. */
  queueP10?: { day: string; floorsUs: ReadonlyMap<string, number> } | null;
  /** Where the service could run; null: every region of the clouds already seen. */
  deployableRegions: readonly string[] | null;
  version: string;
};

/** The floor behind a lever's gain, to be named beside it. `ms` is absent when it differs from request to request. */
export type FloorInfo = {
  kind: 'override' | 'default' | 'baseline' | 'relative' | 'target' | 'none';
  ms?: number;
  source: string;
};

/** Default floors (µs), per occurrence. */
export const BACKBONE_FLOOR_US = 2_000;
export const ROUTING_FLOOR_US = 5_000;
export const MODEL_HOP_FLOOR_US = 2_000;

/** What an override is matched against. */
export type Place = { endpoint: string; clientRegion: string | null; serviceRegion: string | null };

const FIELDS = ['endpoint', 'clientRegion', 'serviceRegion', 'stage'] as const;

/** The most specific matching override of a lever (the later one wins a tie), or null. A stage must be asked for. */
export function overrideFor(context: LeverContext, lever: Lever, at: Place & { stage?: string }): FloorOverride | null {
  let best: FloorOverride | null = null;
  let bestFields = -1;
  for (const override of context.overrides) {
    if (override.lever !== lever) continue;
    if (FIELDS.some((field) => override[field] !== undefined && override[field] !== at[field])) continue;
    const fields = FIELDS.filter((field) => override[field] !== undefined).length;
    if (fields >= bestFields) {
      best = override;
      bestFields = fields;
    }
  }
  return best;
}

/** The most specific baseline (ms) of a call, or null. */
export function baselineFor(
  context: LeverContext,
  call: { provider: string | null; model: string | null; modelRegion: string | null; stage: string | null },
): Baseline | null {
  const fits = (context.baselines ?? []).filter(
    (b) =>
      b.provider === call.provider &&
      b.model === call.model &&
      (b.modelRegion === undefined || b.modelRegion === call.modelRegion) &&
      (b.stage === undefined || b.stage === call.stage),
  );
  const fields = (b: Baseline) => Number(b.modelRegion !== undefined) + Number(b.stage !== undefined);
  return fits.reduce<Baseline | null>((best, b) => (best === null || fields(b) >= fields(best) ? b : best), null);
}
