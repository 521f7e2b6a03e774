// Two groups of requests made comparable: cut into strata of what is not to be compared (tokens, region), only the strata
// that both have (the common support), each weighted as in a target mix. What is left differs by the groups alone, as far
// as the strata tell. Post-stratification; as a way to explain differences of percentiles: DiNardo, Fortin and Lemieux,
// Econometrica 64, 1996.

import { type Weighed, weigh } from './weighed';

/** One request or call of a group. `stratum`: null when it tells too little to be put into one. */
export type Unit = { us: number; weight: number; stratum: string | null };

/** Whose mix of strata both are given. */
export type Target = 'reference' | 'candidate' | 'both';

export type Matched = {
  reference: Weighed;
  candidate: Weighed;
  /** Share of each group's weight that lies in the common support; null without requests. */
  referenceShare: number | null;
  candidateShare: number | null;
  strata: number;
};

/** A stratum needs as many of each side: fewer stand for too much. */
export const FEWEST_OF_STRATUM = 5;

type Side = { rows: number; weight: number };

function sidesOf(units: readonly Unit[]): Map<string, Side> {
  const sides = new Map<string, Side>();
  for (const { stratum, weight } of units) {
    if (stratum === null) continue;
    const side = sides.get(stratum) ?? { rows: 0, weight: 0 };
    sides.set(stratum, side);
    side.rows += 1;
    side.weight += weight;
  }
  return sides;
}

const totalOf = (units: readonly Unit[]) => units.reduce((sum, { weight }) => sum + weight, 0);

/** The strata that both groups have enough of. */
export function commonStrata(reference: readonly Unit[], candidate: readonly Unit[]): Set<string> {
  const [a, b] = [sidesOf(reference), sidesOf(candidate)];
  const isEnough = (side: Side | undefined) => side !== undefined && side.rows >= FEWEST_OF_STRATUM;
  return new Set([...a.keys()].filter((name) => isEnough(a.get(name)) && isEnough(b.get(name))));
}

/** Units with the weights that give every stratum its share of the target; those outside the target are left out. */
export function reweigh(units: readonly Unit[], shares: ReadonlyMap<string, number>): Weighed {
  const own = sidesOf(units);
  return weigh(
    units.flatMap(({ us, weight, stratum }) => {
      const share = stratum === null ? undefined : shares.get(stratum);
      return share === undefined ? [] : [{ value: us, weight: (weight * share) / own.get(stratum!)!.weight }];
    }),
  );
}

/** Share of each of the given strata within the units that lie in them. */
export function mixOf(units: readonly Unit[], strata: ReadonlySet<string>): Map<string, number> {
  const inside = units.filter(({ stratum }) => stratum !== null && strata.has(stratum));
  const total = totalOf(inside);
  return new Map([...sidesOf(inside)].map(([name, { weight }]) => [name, weight / total]));
}

/** Both groups on their common support, each stratum with the same share on both sides. */
export function match(reference: readonly Unit[], candidate: readonly Unit[], target: Target): Matched {
  const strata = commonStrata(reference, candidate);
  const [a, b] = [mixOf(reference, strata), mixOf(candidate, strata)];
  const shareOf = (name: string) => {
    if (target === 'both') return ((a.get(name) ?? 0) + (b.get(name) ?? 0)) / 2;
    return (target === 'reference' ? a : b).get(name) ?? 0;
  };
  const shares = new Map([...strata].map((name) => [name, shareOf(name)]));
  const inside = (units: readonly Unit[]) => {
    const total = totalOf(units);
    return total > 0
      ? totalOf(units.filter((unit) => unit.stratum !== null && strata.has(unit.stratum))) / total
      : null;
  };
  return {
    ...{ reference: reweigh(reference, shares), candidate: reweigh(candidate, shares), strata: strata.size },
    ...{ referenceShare: inside(reference), candidateShare: inside(candidate) },
  };
}
