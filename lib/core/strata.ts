// What rows stand for: themselves, or a stratum of a sample (one bucket of wait of one part) whose total is known exactly.
//
// A kept row of weight w, calibrated by the factor f, stands for f requests of weight w/f. They vary by Σ f·(w/f)²; that
// only some of them were kept varies which part of the stratum lies above a rank, never the stratum's total.

import type { SampledRequest } from './request';

/** Rows of one bucket of one sample: how many were kept, and what each one's weight was multiplied by. */
export type Stratum = { kept: number; factor: number };

export type Population = {
  weights: Float64Array;
  /** Σ of the squared weights of the requests that each row stands for. */
  squares: Float64Array;
  total: number;
  /** (Σw)² ÷ Σw² over all requests that are stood for: what every rule about n goes by. */
  nEffective: number;
  /** 1 for the rows of strata. */
  inStratum: Uint8Array;
  /** `deviation`: of the total, by the requests it is made of. */
  strata: { rows: number[]; total: number; deviation: number }[];
};

/** Rows as a population. A stratum of which a filter took rows away has no known total: its rows then count as drawn. */
export function populationOf(rows: readonly SampledRequest[]): Population {
  const n = rows.length;
  const population: Population = {
    ...{ weights: new Float64Array(n), squares: new Float64Array(n), total: 0, nEffective: 0 },
    ...{ inStratum: new Uint8Array(n), strata: [] },
  };
  const { weights, squares } = population;
  const members = new Map<Stratum, number[]>();
  for (let i = 0; i < n; i++) {
    const { weight, stratum } = rows[i]!;
    weights[i] = weight;
    squares[i] = weight * weight;
    population.total += weight;
    if (stratum === undefined) continue;
    const own = members.get(stratum);
    if (own === undefined) members.set(stratum, [i]);
    else own.push(i);
  }
  for (const [stratum, own] of members) {
    if (own.length < stratum.kept) continue;
    let total = 0;
    let sum = 0;
    for (const i of own) {
      squares[i]! /= stratum.factor;
      population.inStratum[i] = 1;
      total += weights[i]!;
      sum += squares[i]!;
    }
    population.strata.push({ rows: own, total, deviation: Math.sqrt(sum) });
  }
  const all = squares.reduce((sum, one) => sum + one, 0);
  population.nEffective = all > 0 ? Math.floor(population.total ** 2 / all + 1e-6) : 0;
  return population;
}
