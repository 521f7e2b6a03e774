import { describe, expect, test } from 'vitest';
import { analyse } from '@/lib/core/gains';
import { type Baseline, type FloorOverride, type LeverContext, savingsOf } from '@/lib/core/levers';
import { quantileOfSorted } from '@/lib/core/quantile';
import type { Call, SampledRequest } from '@/lib/core/request';
import { type Lever, MEASURED_TERMS, type MeasuredTerm } from '@/lib/core/terms';
import {
  LEVER_OF,
  readTruthExpected,
  readTruthRows,
  TERM_OF,
  TRUTH_LEVERS,
  TRUTH_TERMS,
  VARIANTS,
} from '../support/groundTruth';
import { aRequest } from '../support/requests';

const noFloors: LeverContext = { overrides: [], deployableRegions: null, version: 'test' };

function row(id: number, e2eMs: number, terms: Partial<Record<MeasuredTerm, number>>): SampledRequest {
  const vector = MEASURED_TERMS.map((term) => (terms[term] === undefined ? null : Math.round(terms[term] * 1000)));
  return aRequest({ id: `r${id}`, e2eUs: Math.round(e2eMs * 1000), terms: vector });
}

const rows = (n: number, of: (i: number) => [number, Partial<Record<MeasuredTerm, number>>]) =>
  Array.from({ length: n }, (_, i) => row(i, ...of(i)));

const of = (some: SampledRequest[], context = noFloors) =>
  analyse({ rows: some, complete: true, basis: 'e2e', context, seed: 'test' });

describe.each(VARIANTS)('testbed %s', (variant) => {
  const expected = readTruthExpected(variant);
  const some = readTruthRows(variant).map((truth, i) =>
    row(i, truth.e2eMs, Object.fromEntries(TRUTH_TERMS.map((t) => [TERM_OF[t], truth[`${t}Ms`]]))),
  );
  const overrides = TRUTH_LEVERS.map((t) => ({ lever: LEVER_OF[t] as Lever, floorMs: expected.floorsMs[t] }));
  const analysis = of(some, { ...noFloors, overrides });

  test.each(TRUTH_LEVERS)('gain of %s at p50 and p99', (lever) => {
    for (const key of ['p50', 'p99'] as const) {
      const exact = expected.counterfactual[lever].savingMs[key];
      const gain = analysis.gains[LEVER_OF[lever]][key].ms!;
      expect(Math.abs(gain - exact)).toBeLessThanOrEqual(Math.max(1, 0.05 * exact));
    }
  });

  test('names the right lever', () => {
    const lever = expected.intendedLargestAvoidableTerm;
    expect(analysis.largestAvoidable?.levers ?? []).toEqual(lever === 'none' ? [] : [LEVER_OF[lever]]);
  });
});

test('50 requests are too few for p99, and it is said of p90', () => {
  const analysis = of(
    rows(50, (i) => [500 + i, { queue: 300, model: 100 }]),
    {
      ...noFloors,
      overrides: [{ lever: 'queue', floorMs: 0 }],
    },
  );
  expect(analysis.gains.queue.p99).toMatchObject({ ms: null, reason: 'too_few' });
  expect(analysis).toMatchObject({ reason: 'too_few', largestAvoidable: { quantile: 'p90', levers: ['queue'] } });
});

test('two faults that hide each other are named together', () => {
  const analysis = of(
    rows(2000, (i) => {
      const cold = i % 50 === 0 ? 3000 : 0;
      const queue = i % 50 === 25 ? 3000 : 0;
      return [200 + (i % 10) + cold + queue, { coldStart: cold, queue, model: 100 }];
    }),
  );
  expect(analysis.reason).toBe('masked');
  expect(new Set(analysis.largestAvoidable!.levers)).toEqual(new Set(['coldStart', 'queue']));
});

test('gains that cannot be told apart are both named', () => {
  const analysis = of(
    rows(1000, (i) => [1000 + (i % 7), { coldStart: 100 + ((i * 13) % 11), retry: 100 + ((i * 7) % 11), model: 700 }]),
  );
  expect(analysis.reason).toBe('level');
});

test('nothing is named when nothing is worth it; a mostly unknown tail says so', () => {
  expect(of(rows(1000, (i) => [200 + (i % 50), { routing: 2, model: 150 }])).reason).toBe('nothing_worth_fixing');
  expect(of(rows(1000, (i) => [900 + (i % 50), { coldStart: 200, model: 50 }])).reason).toBe('instrument_first');
});

test('0.8 % cold starts of 20 s get the p99.9 line', () => {
  const analysis = of(
    rows(5000, (i) => [
      300 + (i % 20) + (i % 125 === 0 ? 20_000 : 0),
      { coldStart: i % 125 === 0 ? 20_000 : 0, model: 290 },
    ]),
  );
  expect(analysis.tailLever?.lever).toBe('coldStart');
});

test('a term that nobody measured has no gain', () => {
  expect(of(rows(400, () => [200, { model: 100 }])).gains.queue.p99).toMatchObject({ ms: null, reason: 'no_data' });
});

test('gains agree with the plain definition', () => {
  const some = rows(700, (i) => [300 + ((i * 37) % 211) + (i % 3 ? 0 : 90), { retry: i % 3 ? 0 : 90, model: 200 }]);
  const sorted = (values: number[]) => values.sort((a, b) => a - b);
  const ones = some.map(() => 1);
  const before = sorted(some.map((r) => r.e2eUs));
  const after = sorted(some.map((r) => r.e2eUs - r.terms[MEASURED_TERMS.indexOf('retry')]!));
  for (const [key, q] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const exact = quantileOfSorted(before, ones, q)! - quantileOfSorted(after, ones, q)!;
    expect(of(some).gains.retry[key].ms! * 1000).toBeCloseTo(exact, 3);
  }
});

describe('baselines', () => {
  const baseline = { provider: 'openai', model: 'gpt-4o', baselineMs: 100, note: 'measured locally' };
  const called = (stage: string, durationMs: number, hopMs: number): Call => ({
    ...{ stage, provider: 'openai', model: 'gpt-4o', modelRegion: null, startOffsetUs: null, ttftUs: null },
    ...{ durationUs: durationMs * 1000, hopUs: hopMs * 1000, providerQueueUs: null, modelUs: null },
    ...{ attempts: null, inputTokens: null, outputTokens: null },
  });
  const hop = (request: SampledRequest, baselines: Baseline[], overrides: FloorOverride[] = []) =>
    savingsOf({ rows: [request], basis: 'e2e', context: { ...noFloors, baselines, overrides } }).savedUs.modelHop![0];
  const request = {
    ...row(1, 500, { modelHop: 140, model: 200 }),
    calls: [called('transcribe', 150, 50), called('llm', 190, 90)],
  };

  test('a call that has one saves what it takes beyond it; a stage of its own wins', () => {
    expect(hop(request, [])).toBe(136_000);
    expect(hop(request, [baseline])).toBe(140_000);
    expect(hop(request, [baseline, { ...baseline, stage: 'llm', baselineMs: 20 }])).toBe(220_000);
    expect(hop(request, [{ ...baseline, stage: 'llm' }])).toBe(138_000);
    expect(hop(request, [{ ...baseline, model: 'other' }])).toBe(136_000);
  });

  test('never more than the call took, nor what the model has a target for', () => {
    expect(hop(request, [{ ...baseline, baselineMs: 0 }])).toBe(340_000);
    const target = [{ lever: 'model' as const, floorMs: 150 }];
    expect(hop(request, [{ ...baseline, baselineMs: 0 }], target)).toBe(140_000);
  });
});
