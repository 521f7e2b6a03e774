// What a set of levers would do together: each request's wait with all of them at their floors, and the percentiles of
// that, by the same paired bootstrap as gains. Gains of single levers are never added up.

import { differences, percentileOfReplicates, quantilesFromTop, type Resampled, resample, walked } from './bootstrap';
import { QUANTILE_KEYS, QUANTILE_OF, type QuantileKey, type Value } from './estimate';
import type { FloorInfo, LeverContext } from './floors';
import { counterfactual, REPLICATES } from './gains';
import { smallestN } from './interval';
import { savingsOf } from './levers';
import type { SampledRequest } from './request';
import { type Population, populationOf } from './strata';
import type { Basis, Lever } from './terms';

export type WhatIfQuantile = { before: Value; after: Value; gain: Value };

export type WhatIf = {
  /** Requests at hand, and how many they count for: (Σw)² ÷ Σw². */
  n: number;
  nEffective: number;
  quantiles: Record<QuantileKey, WhatIfQuantile>;
  /** Share of the requests that wait no longer than the threshold; null without requests. */
  within: { before: number; after: number } | null;
  floors: Record<Lever, FloorInfo>;
  /** Levers asked for whose terms no request tells: nothing can be said of them. */
  unknown: Lever[];
  /** Which placement geography stands for; null when it was not asked for. */
  placementWords: string | null;
};

export type WhatIfInput = {
  rows: readonly SampledRequest[];
  basis: Basis;
  context: LeverContext;
  levers: readonly Lever[];
  thresholdUs: number;
  /** (project, cell, metric, effective range, floors version): never the URL. */
  seed: string;
};

const QS = QUANTILE_KEYS.map((key) => QUANTILE_OF[key]).reverse();

/** The effect of some levers together. Pure and repeatable. */
export function whatIf(input: WhatIfInput): WhatIf {
  const { levers, thresholdUs, seed } = input;
  const savings = savingsOf(input);
  const population = populationOf(savings.rows);
  const { weights, total, nEffective } = population;
  const afterUs = counterfactual(savings, levers);
  const share = (values: Float64Array) =>
    values.reduce((sum, us, i) => sum + (us <= thresholdUs ? weights[i]! : 0), 0) / total;
  const study = weights.length === 0 ? null : studyOf([savings.waitUs, afterUs], population, seed);
  return {
    ...{ n: savings.rows.length, nEffective, floors: savings.floors },
    quantiles: Object.fromEntries(
      QUANTILE_KEYS.map((key) => [key, quantileOf(study, nEffective, key)]),
    ) as WhatIf['quantiles'],
    within: total === 0 ? null : { before: share(savings.waitUs), after: share(afterUs) },
    unknown: levers.filter((lever) => savings.savedUs[lever] === null),
    placementWords: levers.includes('geography') ? savings.placementWords : null,
  };
}

type Study = { points: Float64Array[]; resampled: Resampled };

function studyOf(values: Float64Array[], population: Population, seed: string): Study {
  const distributions = values.map((one) => walked(one, population.weights));
  const points = distributions.map((distribution) => quantilesFromTop(distribution, QS, population.total));
  return { points, resampled: resample(distributions, population, { qs: QS, replicates: REPLICATES, seed }) };
}

const NO_DATA: Value = { ms: null, lowMs: null, highMs: null, reason: 'no_data' };
const TOO_FEW: Value = { ms: null, lowMs: null, highMs: null, reason: 'too_few' };

/** By the display rule: nothing below the smallest n, then a lower bound only, then an interval. */
function quantileOf(study: Study | null, nEffective: number, key: QuantileKey): WhatIfQuantile {
  const same = (value: Value): WhatIfQuantile => ({ before: value, after: value, gain: value });
  if (study === null) return same(NO_DATA);
  const q = QUANTILE_OF[key];
  const { oneSided, twoSided } = smallestN(q);
  if (nEffective < oneSided) return same(TOO_FEW);
  const at = QS.indexOf(q);
  const [before, after] = study.points.map((point) => point[at]!) as [number, number];
  const isOneSided = nEffective < twoSided;
  const value = (us: number, spread: Float64Array): Value => ({
    ms: us / 1000,
    lowMs: Math.min(us, percentileOfReplicates(spread, isOneSided ? 0.05 : 0.025)) / 1000,
    highMs: isOneSided ? null : Math.max(us, percentileOfReplicates(spread, 0.975)) / 1000,
  });
  const spreadOf = (distribution: number) => {
    const { quantilesUs, replicates, qs } = study.resampled;
    return Float64Array.from({ length: replicates }, (_, r) => quantilesUs[distribution]![r * qs.length + at]!).sort();
  };
  return {
    before: value(before, spreadOf(0)),
    after: value(after, spreadOf(1)),
    gain: value(before - after, differences(study.resampled, { minuend: 0, subtrahend: 1, q })),
  };
}
