import type { AllTermQuantiles, TermQuantiles } from '../core/estimate';
import { createHistogram, type Histogram, mergeHistogram, quantileUs } from '../core/histogram';
import { toQuantiles } from '../core/quantile';
import { EVIDENCES, TERMS, type Term } from '../core/terms';
import { cellOf, type Member } from '../db/snapshot';

/** The terms of a population: a histogram each, and how each is known. */
export type PooledTerms = { histograms: Histogram[]; evidence: number[] };

export function poolTerms(members: readonly Member[]): PooledTerms {
  const histograms = TERMS.map(() => createHistogram());
  const evidence = TERMS.flatMap(() => EVIDENCES.map(() => 0));
  for (const { set } of members) {
    const cell = cellOf(set, 'terms');
    histograms.forEach((h, i) => {
      mergeHistogram(h, cell.histograms[i]!);
    });
    cell.evidence.forEach((count, i) => {
      evidence[i]! += count;
    });
  }
  return { histograms, evidence };
}

/** Percentiles of every term among the requests that have it; `count` is the whole population. */
export function termQuantiles(terms: PooledTerms, count: number): AllTermQuantiles {
  const of = (i: number): TermQuantiles => {
    const histogram = terms.histograms[i]!;
    const counts = terms.evidence.slice(i * EVIDENCES.length, (i + 1) * EVIDENCES.length);
    const evidence = histogram.n === 0 ? 'missing' : EVIDENCES[counts.indexOf(Math.max(...counts))]!;
    return { ...toQuantiles(histogram), coverage: count === 0 ? null : histogram.n / count, evidence };
  };
  return Object.fromEntries(TERMS.map((term, i) => [term, of(i)])) as AllTermQuantiles;
}

/** Share of requests a term touches (> 0) and its median size there. */
export type Touched = Partial<Record<Term, { share: number; typicalMs: number | null }>>;

const COMES_AND_GOES: readonly Term[] = ['coldStart', 'retry'];

/** For terms that come and go. */
export function touchedTerms({ histograms }: PooledTerms): Touched {
  const touched: Touched = {};
  for (const term of COMES_AND_GOES) {
    const histogram = histograms[TERMS.indexOf(term)]!;
    if (histogram.weight === 0) continue;
    const above = { ...histogram, zero: 0, weight: histogram.weight - histogram.zero };
    const typicalUs = quantileUs(above, 0.5);
    const typicalMs = typicalUs === null ? null : typicalUs / 1000;
    touched[term] = { share: above.weight / histogram.weight, typicalMs };
  }
  return touched;
}
