import { describe, expect, it } from 'vitest';
import { explain } from '@/lib/core/explanation';
import { analyse } from '@/lib/core/gains';
import { gapOf } from '@/lib/core/gap';
import { createHistogram, record } from '@/lib/core/histogram';
import type { FloorOverride, LeverContext } from '@/lib/core/levers';
import type { Call, SampledRequest } from '@/lib/core/request';
import { stagesOf } from '@/lib/core/stages';
import { MEASURED_TERMS, type MeasuredTerm } from '@/lib/core/terms';
import { aRequest } from '../support/requests';

const context: LeverContext = { overrides: [], deployableRegions: null, version: 'test' };
const noPlace = { ...aRequest().dims, clientRegion: null, serviceRegion: null };

function call(stage: string, ms: number, given: Partial<Call> = {}): Call {
  return {
    ...{
      stage,
      provider: null,
      model: null,
      modelRegion: null,
      startOffsetUs: null,
      durationUs: ms * 1000,
      ttftUs: null,
    },
    ...{ hopUs: null, providerQueueUs: null, modelUs: null, attempts: null, inputTokens: null, outputTokens: null },
    ...given,
  };
}

const row = (i: number, terms: Partial<Record<MeasuredTerm, number>>, calls: Call[] = []): SampledRequest =>
  aRequest({
    ...{ id: `r${i}`, dims: noPlace, calls },
    e2eUs: Object.values(terms).reduce((sum, ms) => sum + ms, 0) * 1000,
    terms: MEASURED_TERMS.map((term) => (terms[term] === undefined ? null : terms[term] * 1000)),
  });

describe('stages of a voice request', () => {
  // stt 240 (hop 140) → retrieval 80 beside embed 30 → llm 400 (hop 60) → tts 120
  const calls = [
    call('stt', 240, { startOffsetUs: 0, hopUs: 140_000, modelUs: 100_000 }),
    call('retrieval', 80, { startOffsetUs: 240_000 }),
    call('embed', 30, { startOffsetUs: 240_000, modelUs: 30_000 }),
    call('llm', 400, { startOffsetUs: 320_000, hopUs: 60_000, modelUs: 340_000 }),
    call('tts', 120, { startOffsetUs: 720_000, modelUs: 120_000 }),
  ];
  const rows = Array.from({ length: 600 }, (_, i) => row(i, { modelHop: 200, model: 560, application: 80 }, calls));
  const study = (overrides: FloorOverride[] = []) =>
    stagesOf({ rows, basis: 'e2e', context: { ...context, overrides }, seed: 'test' });
  const stage = (name: string, overrides: FloorOverride[] = []) =>
    study(overrides).stages.find((one) => one.stage === name)!;

  it('has each stage with its time, and the hop of transcription by itself', () => {
    expect(study().stages.map((one) => one.stage)).toEqual(['llm', 'stt', 'tts', 'retrieval', 'embed']);
    const stt = stage('stt');
    expect(stt).toMatchObject({ share: 1, callsEach: 1, isModel: true, duration: { n: 600, p50: { ms: 240 } } });
    expect(stt.hop!.p50.ms).toBe(140);
    expect(stt.gains.modelHop!.p99.ms).toBe(138);
    expect(stt.floors.modelHop).toMatchObject({ kind: 'default', ms: 2 });
    expect(stage('retrieval')).toMatchObject({ isModel: false, hop: null, model: null, gains: {} });
  });

  it('counts the model calls one after the other, not those beside', () => {
    expect(study().steps).toEqual({ n: 600, mean: 3, p50: 3, p99: 3, max: 3 });
  });

  it('takes floors of a stage, for its own calls only', () => {
    const stt = stage('stt', [{ lever: 'modelHop', stage: 'stt', floorMs: 100 }]);
    expect(stt.gains.modelHop!.p99.ms).toBe(40);
    expect(stt.floors.modelHop).toMatchObject({ kind: 'override', ms: 100 });
    const overrides: FloorOverride[] = [{ lever: 'application', stage: 'retrieval', floorMs: 20 }];
    // Beside the embedding of 30 ms, 50 ms of the retrieval are its own
    expect(stage('retrieval', overrides).gains.application!.p99.ms).toBe(50);
    const whole = analyse({ rows, complete: true, basis: 'e2e', context: { ...context, overrides }, seed: 'test' });
    expect(whole.gains.application.p99.ms).toBe(50);
    expect(whole.floors.application).toMatchObject({ kind: 'target', source: 'set for the stages retrieval' });
    expect(stage('llm', [{ lever: 'model', stage: 'llm', floorMs: 200 }]).gains.model!.p99.ms).toBe(140);
  });

  it('is nothing where no request tells its calls', () => {
    expect(stagesOf({ rows: [row(1, { model: 100 })], basis: 'e2e', context, seed: 'x' })).toEqual({
      stages: [],
      steps: null,
    });
  });
});

describe('the gap', () => {
  const of = (values: number[]) => {
    const histogram = createHistogram();
    for (const ms of values) record(histogram, ms * 1000, 1);
    return histogram;
  };
  const many = (n: number, ms: (i: number) => number) => of(Array.from({ length: n }, (_, i) => ms(i)));

  it.each([
    ['large and stable', many(400, (i) => 200 + (i % 20)), 500, true, true, 'placement_and_hops'],
    ['large and unstable', many(400, (i) => 50 + (i % 100) * 10), 800, true, false, 'queue_cold_start_retries'],
    ['below 100 ms', many(400, () => 90), 150, false, true, null],
    ['below 30 % of the wait', many(400, () => 150), 600, false, true, null],
    ['of too few to say', many(99, () => 200), 500, true, null, null],
  ] as const)('%s', (_, gap, waitMs, large, stable, pointsTo) => {
    expect(
      gapOf(
        gap,
        many(400, () => waitMs),
      ),
    ).toMatchObject({ large, stable, pointsTo });
  });

  it('is unknown without the time of a model', () => {
    expect(
      gapOf(
        createHistogram(),
        many(10, () => 100),
      ),
    ).toMatchObject({ n: 0, medianMs: null, large: null });
  });
});

describe('an explanation', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => {
    const coldStart = i % 50 === 0 ? 3000 : 0;
    return row(i, { coldStart, model: 200 + (i % 40), queue: 5 });
  });
  const asked = { rows, basis: 'e2e', context, levers: ['coldStart'], quantile: 'p99' } as const;

  it('has the gain of the sentence, the tail with what was taken off, and both distributions whole', () => {
    const told = explain(asked);
    const analysis = analyse({ rows, complete: true, basis: 'e2e', context, seed: 'test' });
    expect(told.gainMs).toBe(analysis.gains.coldStart.p99.ms);
    expect(told.touchedShare).toBeCloseTo(0.02, 9);
    expect(told.requests.length + told.moreRequests).toBe(rows.filter((r) => r.e2eUs >= told.beforeMs! * 1000).length);
    for (const one of told.requests) {
      expect(one.terms).toEqual([{ term: 'coldStart', ms: 3000 }]);
      expect(one.savedMs).toBe(3000);
      expect(one.afterMs).toBe(one.waitMs - one.savedMs);
    }
    const { before, after, edgesMs } = told.distribution;
    const sum = (shares: number[]) => shares.reduce((a, b) => a + b, 0);
    expect(sum(before)).toBeCloseTo(1, 9);
    expect(sum(after)).toBeCloseTo(1, 9);
    const above = (shares: number[]) => sum(shares.filter((_, i) => edgesMs[i]! > 1000));
    expect(above(before)).toBeCloseTo(0.02, 9);
    expect(above(after)).toBe(0);
  });

  it('says nothing of no requests', () => {
    expect(explain({ ...asked, rows: [] })).toMatchObject({ n: 0, gainMs: null, requests: [], touchedShare: null });
  });
});
