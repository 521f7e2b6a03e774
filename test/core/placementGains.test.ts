// Placements ranked at p99: known cases by hand, and every gain against the plain definition.
import { expect, test } from 'vitest';
import type { LeverContext } from '@/lib/core/floors';
import { placementGroups } from '@/lib/core/placement';
import { placementGains } from '@/lib/core/placementGains';
import { quantileOfSorted } from '@/lib/core/quantile';
import { createTrips } from '@/lib/core/regions';
import type { SampledRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import { aRequest } from '../support/requests';

const CONTEXT: LeverContext = { overrides: [], deployableRegions: ['us-east-1', 'eu-west-2'], version: 'test' };
const CALL = {
  ...{ stage: 'llm', provider: null, model: 'm', modelRegion: 'us-east-1', startOffsetUs: null, durationUs: 30_000 },
  ...{ ttftUs: null, hopUs: null, providerQueueUs: null, modelUs: 30_000, attempts: null },
  ...{ inputTokens: null, outputTokens: null },
};

/** London to us-east-1, 78 ms of network, a model time that varies, `calls` calls to a model in us-east-1. */
function londoners(n: number, calls: number): SampledRequest[] {
  return Array.from({ length: n }, (_, i) => {
    const model = 90_000 + ((i * 7919) % 40_000);
    return {
      ...aRequest({
        id: `r${i}`,
        e2eUs: 78_000 + model,
        terms: MEASURED_TERMS.map((term) => (term === 'network' ? 78_000 : term === 'model' ? model : null)),
        calls: Array.from({ length: calls }, () => CALL),
        weight: 1 + (i % 3),
      }),
    };
  });
}

const rank = (rows: SampledRequest[]) => placementGains({ rows, basis: 'e2e', context: CONTEXT, seed: 's' });

test('service and model together gain; the service alone gains 2 ms with one call and costs with three', () => {
  const [one] = rank(londoners(1000, 1));
  expect(one).toMatchObject({ clientRegion: 'eu-west-2', serviceRegion: 'us-east-1', n: 1000 });
  expect(one!.scenarios.map((s) => s.words)).toEqual(['service and model to eu-west-2', 'service to eu-west-2']);
  const saved = one!.roundTrip!.ms - one!.scenarios[0]!.roundTrip!.ms; // one round trip
  expect(saved).toBeGreaterThan(70);
  expect(one!.scenarios[0]!.gain.p99.ms).toBeCloseTo(saved, 1);
  expect(one!.scenarios[1]!.gain.p99.ms).toBeCloseTo(2, 0);
  const [three] = rank(londoners(1000, 3));
  const alone = three!.scenarios.at(-1)!;
  expect(alone).toMatchObject({ words: 'service to eu-west-2', losing: true });
  expect(alone.gain.p99.ms).toBeCloseTo(-142, 0);
  expect(alone.gain.p99.highMs!).toBeLessThan(0);
  expect(one!.roundTrip).toMatchObject({ source: 'measured between aws regions' });
});

test('every gain is the plain difference of percentiles of the same requests, within its interval', () => {
  const rows = londoners(800, 2);
  const [group] = placementGroups(rows, CONTEXT, createTrips());
  const [ranked] = rank(rows);
  const at = (saved: readonly number[] | null, q: number) => {
    const waits = rows.map((row, i) => ({ us: row.e2eUs - (saved?.[i] ?? 0), weight: row.weight }));
    waits.sort((a, b) => a.us - b.us);
    return quantileOfSorted(
      waits.map((w) => w.us),
      waits.map((w) => w.weight),
      q,
    )!;
  };
  for (const { scenario, savedUs } of group!.moves) {
    const shown = ranked!.scenarios.find((one) => one.words === scenario.words)!;
    for (const [key, q] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const { ms, lowMs, highMs } = shown.gain[key];
      expect(ms! * 1000).toBeCloseTo(at(null, q) - at(savedUs, q), 6);
      expect(lowMs!).toBeLessThanOrEqual(ms!);
      expect(highMs!).toBeGreaterThanOrEqual(ms!);
    }
  }
});

test('too few requests for p99 show none, and rank by the mean', () => {
  const [few] = rank(londoners(100, 1));
  expect(few!.scenarios[0]!.gain.p99).toMatchObject({ ms: null, reason: 'too_few' });
  expect(few!.scenarios[0]!.gain.p50.ms).toBeGreaterThan(50);
  expect(few!.scenarios[0]!.withModel).toBe(true);
});

test('nobody to place: already near, or unknown places', () => {
  const near = londoners(400, 1).map((row) => ({ ...row, dims: { ...row.dims, clientRegion: 'us-east-1' } }));
  expect(rank(near).flatMap((one) => one.scenarios)).toEqual([]);
  const unknown = near.map((row) => ({ ...row, dims: { ...row.dims, clientRegion: 'mars-1' } }));
  expect(rank(unknown)).toEqual([]);
});
