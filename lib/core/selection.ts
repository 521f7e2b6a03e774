// What is different about some requests: the share of each value among them against its share among the rest, and the
// mean of each term. Rows carry weights (they stand for others), so tests go by the effective number (Σw)²/Σw².
//
// Hundreds of values may be looked at, so p-values are held to the false discovery rate (Benjamini and Hochberg, 1995):
// of what is called different, at most one in a hundred is expected to be chance.

import { breakdown, type SampledRequest } from './request';
import { type Basis, MEASURED_TERMS, TERMS, type Term } from './terms';

export type Feature = {
  dimension: string;
  value: string;
  /** Share of the selected requests that have the value, and of the rest. */
  share: number;
  restShare: number;
  /** Two-sided p of the difference; after the correction for how many were looked at. */
  p: number;
};
export type TermDifference = {
  term: Term;
  /** Means over the requests that tell the term (ms). */
  meanMs: number;
  restMeanMs: number;
  /** 95 % interval of the difference (ms). */
  lowMs: number;
  highMs: number;
};
export type SelectionStudy = {
  /** Requests stood for, and those at hand. */
  selected: { weight: number; rows: number };
  rest: { weight: number; rows: number };
  features: Feature[];
  terms: TermDifference[];
};

const FALSE_DISCOVERIES = 0.01;
/** Shares that differ by less are not worth a line, however sure. */
const SMALLEST_DIFFERENCE = 0.02;
const FEWEST_ROWS = 10;
const Z95 = 1.959964;

type Sum = { weight: number; squares: number };
const add = (sum: Sum, weight: number) => {
  sum.weight += weight;
  sum.squares += weight * weight;
};
const effective = (sum: Sum) => (sum.squares === 0 ? 0 : (sum.weight * sum.weight) / sum.squares);

/** Complementary error function, x ≥ 0 (Abramowitz and Stegun 7.1.26; error below 1.5e-7). */
function erfc(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return poly * Math.exp(-x * x);
}

/** Two-sided p of the two-proportion z test; 1 without anything to compare. */
export function proportionP(a: { share: number; n: number }, b: { share: number; n: number }): number {
  if (a.n <= 0 || b.n <= 0) return 1;
  const pooled = (a.share * a.n + b.share * b.n) / (a.n + b.n);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / a.n + 1 / b.n));
  return deviation === 0 ? 1 : erfc(Math.abs(a.share - b.share) / deviation / Math.SQRT2);
}

/** Largest p that is still called different, of all that were looked at; −1 when none is. */
function discoveryLimit(ps: readonly number[]): number {
  const sorted = [...ps].sort((a, b) => a - b);
  let limit = -1;
  sorted.forEach((p, i) => {
    if (p <= ((i + 1) / sorted.length) * FALSE_DISCOVERIES) limit = p;
  });
  return limit;
}

/** What is known of a request as values; a dimension that was not told has the value "not told". */
function valuesOf(row: SampledRequest): [string, string][] {
  const { endpoint, clientRegion, serviceRegion, provider, model, modelRegion, version, environment } = row.dims;
  const told = { endpoint, clientRegion, serviceRegion, provider, model, modelRegion, version, environment };
  const happened = (term: (typeof MEASURED_TERMS)[number]) => {
    const us = row.terms[MEASURED_TERMS.indexOf(term)] ?? null;
    return us === null ? 'not told' : us > 0 ? 'yes' : 'no';
  };
  return [
    ...Object.entries(told).map(([name, value]): [string, string] => [name, value ?? 'not told']),
    ['outcome', row.outcome],
    ['connection', row.connection ?? 'not told'],
    ['cache', row.cache ?? 'not told'],
    ['cold start', happened('coldStart')],
    ['retried', happened('retry')],
    ['calls', row.calls.length >= 4 ? '4 or more' : String(row.calls.length)],
    ['input tokens', decade(row.inputTokens)],
    ['output tokens', decade(row.outputTokens)],
  ];
}

function decade(tokens: number | null): string {
  if (tokens === null) return 'not told';
  const limit = [100, 300, 1_000, 3_000, 10_000, 30_000].find((most) => tokens < most);
  return limit === undefined ? '30,000 or more' : `below ${limit.toLocaleString('en')}`;
}

/** Compares the selected rows with the rest of a population. Only differences beyond chance are listed, largest first. */
export function studySelection(question: {
  rows: readonly SampledRequest[];
  isSelected: (row: SampledRequest) => boolean;
  basis: (row: SampledRequest) => Basis;
}): SelectionStudy {
  const { rows, isSelected, basis } = question;
  const groups = { selected: [] as SampledRequest[], rest: [] as SampledRequest[] };
  for (const row of rows) groups[isSelected(row) ? 'selected' : 'rest'].push(row);
  const isEnough = groups.selected.length >= FEWEST_ROWS && groups.rest.length >= FEWEST_ROWS;
  const size = (some: readonly SampledRequest[]) => ({
    weight: some.reduce((sum, row) => sum + row.weight, 0),
    rows: some.length,
  });
  return {
    ...{ selected: size(groups.selected), rest: size(groups.rest) },
    features: isEnough ? featuresOf(groups.selected, groups.rest) : [],
    terms: isEnough ? termsOf(groups.selected, groups.rest, basis) : [],
  };
}

function featuresOf(selected: readonly SampledRequest[], rest: readonly SampledRequest[]): Feature[] {
  const total = { selected: { weight: 0, squares: 0 }, rest: { weight: 0, squares: 0 } };
  const weights = new Map<string, { dimension: string; value: string; selected: number; rest: number }>();
  for (const [side, some] of [
    ['selected', selected],
    ['rest', rest],
  ] as const)
    for (const row of some) {
      add(total[side], row.weight);
      for (const [dimension, value] of valuesOf(row)) {
        const name = `${dimension}\n${value}`;
        const known = weights.get(name) ?? { dimension, value, selected: 0, rest: 0 };
        weights.set(name, known);
        known[side] += row.weight;
      }
    }
  const looked = [...weights.values()].map(({ dimension, value, ...weight }) => {
    const share = weight.selected / total.selected.weight;
    const restShare = weight.rest / total.rest.weight;
    const n = { selected: effective(total.selected), rest: effective(total.rest) };
    return {
      dimension,
      value,
      share,
      restShare,
      p: proportionP({ share, n: n.selected }, { share: restShare, n: n.rest }),
    };
  });
  const limit = discoveryLimit(looked.map((feature) => feature.p));
  const gap = (feature: Feature) => Math.abs(feature.share - feature.restShare);
  return looked
    .filter((feature) => feature.p <= limit && gap(feature) >= SMALLEST_DIFFERENCE)
    .sort((a, b) => gap(b) - gap(a) || (a.dimension < b.dimension ? -1 : 1));
}

type Moments = Sum & { sum: number; sumSquares: number };

function termsOf(
  selected: readonly SampledRequest[],
  rest: readonly SampledRequest[],
  basis: (row: SampledRequest) => Basis,
): TermDifference[] {
  const moments = (some: readonly SampledRequest[]) => {
    const all = TERMS.map((): Moments => ({ weight: 0, squares: 0, sum: 0, sumSquares: 0 }));
    for (const row of some) {
      const parts = breakdown(row, basis(row));
      TERMS.forEach((term, i) => {
        const us = parts[term];
        if (us === null) return;
        add(all[i]!, row.weight);
        all[i]!.sum += (us / 1000) * row.weight;
        all[i]!.sumSquares += (us / 1000) ** 2 * row.weight;
      });
    }
    return all;
  };
  const [own, others] = [moments(selected), moments(rest)];
  return TERMS.flatMap((term, i) => difference(term, own[i]!, others[i]!)).sort(
    (a, b) => Math.abs(b.meanMs - b.restMeanMs) - Math.abs(a.meanMs - a.restMeanMs),
  );
}

/** A term whose mean differs beyond chance (the interval of Welch's test leaves out 0); else nothing. */
function difference(term: Term, own: Moments, others: Moments): TermDifference[] {
  if (effective(own) < FEWEST_ROWS || effective(others) < FEWEST_ROWS) return [];
  const mean = (m: Moments) => m.sum / m.weight;
  const variance = (m: Moments) => Math.max(0, m.sumSquares / m.weight - mean(m) ** 2) / effective(m);
  const [meanMs, restMeanMs] = [mean(own), mean(others)];
  const half = Z95 * Math.sqrt(variance(own) + variance(others));
  const [lowMs, highMs] = [meanMs - restMeanMs - half, meanMs - restMeanMs + half];
  return lowMs > 0 || highMs < 0 ? [{ term, meanMs, restMeanMs, lowMs, highMs }] : [];
}
