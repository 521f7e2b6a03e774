// The joint effect of levers against a plain recomputation: subtract per request, then take the percentile.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SampledRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import { whatIf } from '@/lib/core/whatIf';
import { anyRequest, aRequest } from '../support/requests';

const CONTEXT = {
  overrides: [{ lever: 'queue' as const, floorMs: 5 }],
  deployableRegions: null,
  baselines: [],
  version: 'test',
};

const rows: SampledRequest[] = fc
  .sample(anyRequest, { seed: 11, numRuns: 3_000 })
  .filter(({ outcome }) => outcome === 'ok')
  .map((request, i) => ({ ...request, id: `w${i}`, calls: [], weight: 1, ttftUs: null, decodeUs: null }));

const term = (row: SampledRequest, name: (typeof MEASURED_TERMS)[number]) =>
  row.terms[MEASURED_TERMS.indexOf(name)] ?? 0;

/** Nearest rank, the plain way. */
function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(q * sorted.length - 1e-9) - 1]!;
}

const SAVED = {
  coldStart: (row: SampledRequest) => term(row, 'coldStart'),
  retry: (row: SampledRequest) => term(row, 'retry'),
  queue: (row: SampledRequest) => Math.max(0, term(row, 'queue') - 5_000),
};

describe.each([
  [['coldStart']],
  [['coldStart', 'queue']],
  [['coldStart', 'retry', 'queue']],
] as (keyof typeof SAVED)[][][])('%j', (levers) => {
  const answer = whatIf({ rows, basis: 'e2e', context: CONTEXT, levers, thresholdUs: 800_000, seed: 's' });
  const after = rows.map((row) => Math.max(0, row.e2eUs - levers.reduce((sum, lever) => sum + SAVED[lever](row), 0)));

  it('equals the plain recomputation at every percentile', () => {
    for (const [key, q] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const was = quantile(
        rows.map((row) => row.e2eUs),
        q,
      );
      expect(answer.quantiles[key].before.ms).toBe(was / 1000);
      expect(answer.quantiles[key].after.ms).toBe(quantile(after, q) / 1000);
      expect(answer.quantiles[key].gain.ms).toBeCloseTo((was - quantile(after, q)) / 1000, 9);
    }
  });

  it('the share within a threshold too', () => {
    const share = (values: number[]) => values.filter((us) => us <= 800_000).length / values.length;
    expect(answer.within?.before).toBeCloseTo(share(rows.map((row) => row.e2eUs)), 12);
    expect(answer.within?.after).toBeCloseTo(share(after), 12);
  });

  it('each interval holds its value', () => {
    for (const { before, after: then, gain } of Object.values(answer.quantiles))
      for (const value of [before, then, gain]) {
        if (value.ms === null) continue;
        expect(value.lowMs!).toBeLessThanOrEqual(value.ms);
        if (value.highMs !== null) expect(value.highMs).toBeGreaterThanOrEqual(value.ms);
      }
  });
});

it('two reasons that mask each other: hardly a gain alone, all of it together', () => {
  const slow = (name: 'coldStart' | 'queue') => MEASURED_TERMS.map((one) => (one === name ? 3_000_000 : 0));
  const masked = Array.from({ length: 4_000 }, (_, i): SampledRequest => {
    const terms = i % 50 === 0 ? slow('coldStart') : i % 50 === 1 ? slow('queue') : MEASURED_TERMS.map(() => 0);
    return aRequest({ id: `m${i}`, terms, e2eUs: 200_000 + i + (i % 50 < 2 ? 3_000_000 : 0) });
  });
  const gain = (levers: ('coldStart' | 'queue')[]) =>
    whatIf({ rows: masked, basis: 'e2e', context: CONTEXT, levers, thresholdUs: 1e6, seed: 's' }).quantiles.p99.gain
      .ms!;
  expect(gain(['coldStart'])).toBeLessThan(10);
  expect(gain(['queue'])).toBeLessThan(10);
  expect(gain(['coldStart', 'queue'])).toBeGreaterThan(2_900);
});

it('a model target counts, and what nobody measured is named', () => {
  const terms = MEASURED_TERMS.map((name) => (name === 'model' ? 500_000 : null));
  const same = Array.from({ length: 1_000 }, (_, i) => aRequest({ id: `t${i}`, terms, e2eUs: 700_000 }));
  const context = { ...CONTEXT, overrides: [{ lever: 'model' as const, floorMs: 300 }] };
  const answer = whatIf({ rows: same, basis: 'e2e', context, levers: ['model', 'retry'], thresholdUs: 6e5, seed: 's' });
  expect(answer.quantiles.p99.after.ms).toBe(500);
  expect(answer.within).toEqual({ before: 0, after: 1 });
  expect(answer.unknown).toEqual(['retry']);
});
