// Gains and the headline against an independent oracle, on the testbed's truth and on made cases.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { analyse } from '@/lib/core/gains';
import type { LeverContext } from '@/lib/core/levers';
import { type SampledRequest, waitUs } from '@/lib/core/request';
import { type Basis, MEASURED_TERMS, type MeasuredTerm } from '@/lib/core/terms';
import {
  LEVER_OF,
  readTruthExpected,
  readTruthRows,
  TRUTH_LEVERS,
  toEvents,
  toFloors,
  VARIANTS,
} from '../support/groundTruth';
import { anyRequest, aRequest } from '../support/requests';

type Parts = Partial<Record<MeasuredTerm, number>> & { rest?: number };

/** A request (ms) whose parts add up to its e2e. */
function made(i: number, parts: Parts, given: Partial<SampledRequest> = {}): SampledRequest {
  const { rest = 0, ...terms } = parts;
  const total = Object.values(terms).reduce((sum, ms) => sum + ms, rest);
  return aRequest({
    id: `r${i}`,
    e2eUs: Math.round(total * 1000),
    terms: MEASURED_TERMS.map((term) => (terms[term] === undefined ? null : Math.round(terms[term] * 1000))),
    ...given,
  });
}

/** A small deterministic spread in [0, 1). */
const spread = (i: number, salt = 0) => (((i + 1) * 7919 + salt * 104_729) % 10_007) / 10_007;

const many = (n: number, parts: (i: number) => Parts, given: (i: number) => Partial<SampledRequest> = () => ({})) =>
  Array.from({ length: n }, (_, i) => made(i, parts(i), given(i)));

const study = (rows: SampledRequest[], context: Partial<LeverContext> = {}, basis: Basis = 'e2e') =>
  analyse({
    rows,
    complete: true,
    basis,
    context: { overrides: [], deployableRegions: null, version: 'test', ...context },
    seed: 'test',
  });

const regions = (client: string | null, service: string | null, model: string | null = null) => ({
  dims: { ...aRequest().dims, clientRegion: client, serviceRegion: service, modelRegion: model },
});
/** No place told, so that geography says nothing. */
const nowhere = () => regions(null, null);

describe('the testbed', () => {
  it.each(VARIANTS)('%s: gains and the lever named', (variant) => {
    const expected = readTruthExpected(variant);
    const rows = toEvents(readTruthRows(variant), { nowMs: 1_800_000_000_000 }).map((event, i) => {
      const terms = event.terms as Record<string, number>;
      return aRequest({
        id: `${i}`,
        dims: { ...aRequest().dims, clientRegion: event.clientRegion, serviceRegion: event.serviceRegion },
        e2eUs: Math.round(event.e2eMs * 1000),
        terms: MEASURED_TERMS.map((term) =>
          terms[`${term}Ms`] === undefined ? null : Math.round(terms[`${term}Ms`]! * 1000),
        ),
      });
    });
    const result = study(rows, toFloors(expected));
    for (const lever of TRUTH_LEVERS) {
      for (const key of ['p50', 'p90', 'p95', 'p99'] as const) {
        const want = expected.counterfactual[lever].savingMs[key];
        const got = result.gains[LEVER_OF[lever]][key];
        expect(Math.abs(got.ms! - want), `${lever} ${key}`).toBeLessThanOrEqual(Math.max(1, 0.05 * want));
      }
    }
    const intended = expected.intendedLargestAvoidableTerm;
    expect(result.largestAvoidable?.levers ?? []).toEqual(intended === 'none' ? [] : [LEVER_OF[intended]]);
    expect(result.reason).toBe(intended === 'none' ? 'nothing_worth_fixing' : 'named');
    expect(result.gains.connection.p50).toEqual({ ms: null, lowMs: null, highMs: null, reason: 'no_data' });
  });
});

describe('what fools a naive tool', () => {
  it('names a masked pair together', () => {
    const rows = many(
      10_000,
      (i) => ({ model: 100 + 50 * spread(i), coldStart: i % 50 === 0 ? 3000 : 0, queue: i % 50 === 25 ? 3001 : 1 }),
      nowhere,
    );
    const result = study(rows);
    expect(result.reason).toBe('masked');
    expect([...result.largestAvoidable!.levers].sort()).toEqual(['coldStart', 'queue']);
    expect(result.gains.coldStart.p99.ms!).toBeLessThan(200);
    expect(result.jointGain.p99.ms!).toBeGreaterThan(2900);
  });

  it('names a tie as level', () => {
    const rows = many(
      5000,
      (i) => ({ model: 100, retry: 300 + 20 * spread(i), routing: 305 + 20 * spread(i, 3) }),
      nowhere,
    );
    const result = study(rows);
    expect(result.reason).toBe('level');
    expect([...result.largestAvoidable!.levers].sort()).toEqual(['retry', 'routing']);
  });

  it('says instrument first when most of the tail is unattributed', () => {
    const rows = many(2000, (i) => ({ model: 50, retry: 40, rest: 300 + 100 * spread(i) }), nowhere);
    expect(study(rows).reason).toBe('instrument_first');
  });

  it('says too few at n = 50, and no p99', () => {
    const result = study(many(50, (i) => ({ model: 100, coldStart: i % 5 === 0 ? 2000 : 0 }), nowhere));
    expect(result.reason).toBe('too_few');
    expect(result.gains.coldStart.p99).toMatchObject({ ms: null, reason: 'too_few' });
    expect(result.largestAvoidable?.quantile ?? 'p90').toBe('p90');
  });

  it('says a lever that only p99.9 shows', () => {
    const rows = many(10_000, (i) => ({ model: 100 + 20 * spread(i), coldStart: i % 125 === 0 ? 20_000 : 0 }), nowhere);
    const result = study(rows);
    expect(result.reason).toBe('nothing_worth_fixing');
    expect(result.tailLever?.lever).toBe('coldStart');
    expect(result.tailLever!.gainMs).toBeGreaterThan(19_000);
  });

  it('names cold starts of 1.5 %, and GPU ones that clients give up on', () => {
    const rows = many(10_000, (i) => ({ model: 150 + 20 * spread(i), coldStart: i % 66 === 0 ? 3000 : 0 }), nowhere);
    expect(study(rows).largestAvoidable?.levers).toEqual(['coldStart']);
    const abandoned = many(
      4000,
      (i) => (i % 40 === 0 ? { coldStart: 30_000 } : { coldStart: 0, model: 300 + 50 * spread(i) }),
      (i) => ({ ...nowhere(), outcome: i % 40 === 0 ? 'timeout' : 'ok' }),
    );
    expect(study(abandoned).largestAvoidable?.levers).toEqual(['coldStart']);
  });

  it('a hop beside a parallel retrieval gains only what is its own', () => {
    const blank = {
      ...{ provider: null, model: null, modelRegion: null, ttftUs: null, hopUs: null, providerQueueUs: null },
      ...{ modelUs: null, attempts: null, inputTokens: null, outputTokens: null },
    };
    const calls = [
      { ...blank, stage: 'llm', startOffsetUs: 0, durationUs: 800_000, hopUs: 800_000 },
      { ...blank, stage: 'retrieval', startOffsetUs: 0, durationUs: 750_000 },
    ];
    const result = study(
      many(
        1000,
        (i) => ({ modelHop: 800, application: spread(i) }),
        () => ({ ...nowhere(), calls }),
      ),
    );
    expect(result.gains.modelHop.p50.ms).toBeCloseTo(50, 0);
  });

  it('a floor changes the sentence and back; the same question gives the same answer', () => {
    const rows = many(2000, (i) => ({ model: 100, coldStart: i % 20 === 0 ? 500 : 0, retry: spread(i) }), nowhere);
    expect(study(rows).largestAvoidable?.levers).toEqual(['coldStart']);
    expect(study(rows)).toEqual(study(rows));
    const raised = study(rows, { overrides: [{ lever: 'coldStart', floorMs: 500 }] });
    expect(raised.reason).toBe('nothing_worth_fixing');
    expect(raised.floors.coldStart).toMatchObject({ kind: 'override', ms: 500 });
  });

  it('never pools endpoints', () => {
    const rows = many(
      1000,
      () => ({ model: 100, retry: 100 }),
      (i) => ({ dims: { ...nowhere().dims, endpoint: `/${i % 2}` } }),
    );
    expect(study(rows)).toMatchObject({ reason: 'several_endpoints', largestAvoidable: null });
  });
});

describe('geography', () => {
  const london =
    (given: Partial<SampledRequest> = {}) =>
    () => ({ ...regions('eu-west-2', 'us-east-1', 'us-east-1'), ...given });

  it('London to us-east-1 over new TLS connections', () => {
    const rows = many(
      1000,
      (i) => ({ network: 76, connection: 152, model: 100 + 10 * spread(i) }),
      london({ connection: 'new', roundTrips: 1 }),
    );
    const result = study(rows);
    expect(result.gains.geography.p50.ms!).toBeGreaterThan(215);
    expect(result.gains.geography.p50.ms!).toBeLessThan(222);
    expect(result.gains.connection.p50.ms).toBeCloseTo(152, 0);
    // Together they save each round trip once
    expect(result.jointGain.p50.ms!).toBeLessThanOrEqual(228);
    expect(result.largestAvoidable).toMatchObject({
      levers: ['geography'],
      scenario: 'service and model to eu-west-2',
    });
  });

  it('moving the service alone loses with three calls to a model that stays', () => {
    const call = {
      ...{
        stage: 'llm',
        provider: null,
        model: 'm',
        modelRegion: 'us-east-1',
        startOffsetUs: null,
        durationUs: 30_000,
      },
      ...{ ttftUs: null, hopUs: null, providerQueueUs: null, modelUs: 30_000, attempts: null },
      ...{ inputTokens: null, outputTokens: null },
    };
    const calls = [call, call, call];
    const rows = many(1000, (i) => ({ network: 78, model: 90 + spread(i) }), london({ calls }));
    const alone = study(rows).placements.find((one) => one.toRegion === 'eu-west-2' && !one.withModel);
    expect(alone?.losing).toBe(true);
    expect(alone!.meanSavedMs).toBeCloseTo(-142, 0);
    const hosted = rows.map((row) => ({ ...row, calls: calls.map((one) => ({ ...one, provider: 'hosted' })) }));
    expect(study(hosted).gains.geography.p99.ms).toBe(0);
    const single = rows.map((row) => ({ ...row, calls: [call] }));
    expect(study(single).placements.find((one) => !one.withModel)?.meanSavedMs).toBeCloseTo(2, 0);
  });

  it('a chat stream with 73 ms of geography gets geography named on its wait', () => {
    const rows = many(1000, (i) => ({ network: 77, model: 250 + 23 * spread(i) }), london()).map((row) => ({
      ...row,
      ttftUs: row.e2eUs,
      decodeUs: 28_650_000,
      e2eUs: row.e2eUs + 28_650_000,
    }));
    const result = study(rows, {}, 'ttft');
    expect(result.largestAvoidable?.levers).toEqual(['geography']);
    expect(result.gains.geography.p99.ms!).toBeGreaterThan(70);
  });

  it('a cellular last mile in the right place, and unknown places, name nothing', () => {
    const slow = (i: number) => ({ network: 120 + 200 * spread(i), model: 100 });
    expect(study(many(1000, slow, () => regions('eu-west-2', 'eu-west-2'))).reason).toBe('nothing_worth_fixing');
    const unknown = study(many(1000, slow, () => regions('mars-1', 'eu-west-2')));
    expect(unknown.gains.geography.p99.ms).toBe(0);
  });
});

/** The definition, written plainly: the smallest wait that at least a share q of the weight does not exceed. */
function plainQuantile(rows: { us: number; weight: number }[], q: number): number {
  const total = rows.reduce((sum, row) => sum + row.weight, 0);
  const ascending = [...rows].sort((a, b) => a.us - b.us);
  return ascending.find((row) => {
    const upTo = ascending.reduce((sum, other) => sum + (other.us <= row.us ? other.weight : 0), 0);
    return upTo >= q * total - 1e-6;
  })!.us;
}

describe('against the plain definition', () => {
  it('any mix of outcomes, weights and missing terms, on both bases', () => {
    const population = fc.tuple(
      fc.array(anyRequest, { minLength: 60, maxLength: 120 }),
      fc.constantFrom('e2e', 'ttft'),
    );
    fc.assert(
      fc.property(population, ([requests, basis]) => {
        const result = study(requests, {}, basis as Basis);
        const told = requests.filter((row) => waitUs(row, basis as Basis) !== null);
        expect(result.n).toBe(told.length);
        for (const [lever, floorUs] of [
          ['retry', 0],
          ['coldStart', 0],
          ['routing', 5000],
        ] as const) {
          const at = MEASURED_TERMS.indexOf(lever);
          const before = told.map((row) => ({ us: waitUs(row, basis as Basis)!, weight: row.weight }));
          const after = told.map((row, i) => {
            const term = row.terms[at] ?? null;
            return { us: before[i]!.us - (term === null ? 0 : Math.max(0, term - floorUs)), weight: row.weight };
          });
          const gain = result.gains[lever].p90;
          if (gain.ms === null) continue;
          expect(gain.ms * 1000).toBeCloseTo(plainQuantile(before, 0.9) - plainQuantile(after, 0.9), 3);
          expect(gain.lowMs!).toBeLessThanOrEqual(gain.ms);
        }
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
