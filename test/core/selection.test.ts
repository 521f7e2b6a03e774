// What differs between a selection and the rest: planted differences are found, chance is not, weights count.
import { describe, expect, it } from 'vitest';
import type { SampledRequest } from '@/lib/core/request';
import { proportionP, studySelection } from '@/lib/core/selection';
import { MEASURED_TERMS } from '@/lib/core/terms';
import { aRequest } from '../support/requests';

/** A repeatable stream of numbers in [0, 1). */
function stream(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function rowsOf(count: number, make: (i: number, next: () => number) => Partial<SampledRequest>): SampledRequest[] {
  const next = stream(count + 7);
  return Array.from({ length: count }, (_, i) => ({ ...aRequest({ id: `r${i}` }), ...make(i, next) }));
}

const e2e = () => 'e2e' as const;
const region = (clientRegion: string) => ({ dims: { ...aRequest().dims, clientRegion } });

describe('features', () => {
  it('a planted difference comes first, with the shares counted by hand', () => {
    const rows = rowsOf(1_000, (i) => ({
      e2eUs: i < 100 ? 9e6 : 1e5,
      ...region(i < 80 || i % 10 === 0 ? 'ap-south-1' : 'eu-west-2'),
    }));
    const { features, selected, rest } = studySelection({ rows, isSelected: (row) => row.e2eUs > 1e6, basis: e2e });
    expect([selected.rows, rest.rows]).toEqual([100, 900]);
    const found = features.find(({ value }) => value === 'ap-south-1');
    expect(found?.share).toBeCloseTo(0.82, 10);
    expect(found?.restShare).toBeCloseTo(0.1, 10);
    expect(features.every(({ dimension }) => dimension === 'clientRegion')).toBe(true);
  });

  it('of 100 populations without a difference hardly any names one', () => {
    let named = 0;
    for (let run = 0; run < 100; run++) {
      const next = stream(run * 977 + 3);
      const rows = rowsOf(400, () => ({
        ...region(`region ${Math.floor(next() * 12)}`),
        e2eUs: next() < 0.2 ? 5e6 : 1e5,
        inputTokens: Math.floor(next() * 20_000),
      }));
      const { features } = studySelection({ rows, isSelected: (row) => row.e2eUs > 1e6, basis: e2e });
      if (features.length > 0) named += 1;
    }
    expect(named).toBeLessThanOrEqual(4);
  });

  it('a few rows that stand for many are not taken for many', () => {
    const weighted = (weight: number) =>
      rowsOf(40, (i) => ({ weight, e2eUs: i < 15 ? 9e6 : 1e5, ...region(i % 3 === 0 || i < 3 ? 'a' : 'b') }));
    const study = (rows: SampledRequest[]) =>
      studySelection({ rows, isSelected: (row) => row.e2eUs > 1e6, basis: e2e }).features.length;
    expect(study(weighted(10_000))).toBe(study(weighted(1)));
  });

  it('says nothing of a handful', () => {
    const rows = rowsOf(100, (i) => ({ e2eUs: i < 5 ? 9e6 : 1e5, ...region(i < 5 ? 'a' : 'b') }));
    expect(studySelection({ rows, isSelected: (row) => row.e2eUs > 1e6, basis: e2e }).features).toEqual([]);
  });
});

it('terms: the mean of a term is over the requests that tell it, and only sure differences are listed', () => {
  const terms = (queueUs: number | null) => MEASURED_TERMS.map((term) => (term === 'queue' ? queueUs : null));
  const rows = rowsOf(300, (i, next) => ({
    e2eUs: 2e6,
    terms: terms(i % 2 === 0 ? null : i < 100 ? 1e6 + next() * 1e4 : 1e5 + next() * 1e4),
  }));
  const isSelected = (row: SampledRequest) => Number(row.id.slice(1)) < 100;
  const { terms: found } = studySelection({ rows, isSelected, basis: e2e });
  const queue = found.find(({ term }) => term === 'queue');
  expect(queue?.meanMs).toBeGreaterThan(1_000);
  expect(queue?.restMeanMs).toBeLessThan(111);
  expect(queue?.lowMs).toBeGreaterThan(880);
  expect(queue?.highMs).toBeLessThan(920);
});

it.each([
  [0.5, 0.5, 1],
  [0.6, 0.5, 0.0444],
  [0.62, 0.5, 0.0156],
])('the two-proportion test of %f against %f at n = 200 each gives p = %f', (a, b, p) => {
  expect(proportionP({ share: a, n: 200 }, { share: b, n: 200 })).toBeCloseTo(p, 3);
});
