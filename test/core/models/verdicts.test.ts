// What may be recommended and what may be called a cause: on simulated requests whose truth is known.
import { describe, expect, it } from 'vitest';
import { createHistogram, record } from '@/lib/core/histogram';
import { abandonment } from '@/lib/core/models/abandonment';
import { causesOf } from '@/lib/core/models/causes';
import { inFlightByLittle } from '@/lib/core/models/concurrency';
import { wilson } from '@/lib/core/models/proportion';
import { swapOf } from '@/lib/core/models/swap';
import { type Case, callCases, requestCase } from '@/lib/core/models/units';
import type { Amount } from '@/lib/core/models/weighed';
import { createDraws } from '@/lib/demo/draws';
import { aRequest } from '../../support/requests';

type Shape = { n: number; shortShare: number; factor: number; load?: number };

/** Prompts of 200 or 3,000 tokens: 150 and 600 ms, times the model's factor, spread; a busy hour adds. */
function requests(seed: string, { n, shortShare, factor, load = 0 }: Shape): Case[] {
  const draws = createDraws(seed);
  return Array.from({ length: n }, () => {
    const isShort = draws.chance(shortShare);
    const isBusy = draws.chance(load);
    const ms = ((isShort ? 150 : 600) + (isBusy ? 200 : 0)) * factor * Math.exp(draws.between(-0.35, 0.35));
    const row = aRequest({ e2eUs: Math.round(ms * 1_000), inputTokens: isShort ? 200 : 3_000 });
    return requestCase(row, 'e2e', isBusy ? 40 : 3)!;
  });
}

const noQuality: Amount = { value: null, low: null, high: null, n: 0 };
const quality = (value: number, half: number) => ({ value, low: value - half, high: value + half, n: 500 });
const side = (cases: Case[], failed: number, n: number, of = noQuality) => ({
  ...{ cases, success: wilson(1 - failed / n, n), quality: of },
});

describe('a swap', () => {
  const slow = requests('slow', { n: 4_000, shortShare: 0.5, factor: 1 });
  const fast = requests('fast', { n: 2_000, shortShare: 0.9, factor: 0.7 });
  const limit = 0.005;

  it('that is faster and does not fail more often is recommended, with gains on the current traffic', () => {
    const swap = swapOf(side(slow, 40, 100_000), side(fast, 20, 50_000), limit);
    expect([swap.isRecommended, swap.reasons, swap.matchedOn]).toEqual([true, [], ['region', 'inputTokens']]);
    expect(swap.matchedShare).toBe(1);
    // the candidate has mostly short prompts: its own median would promise four times as much
    const { gain, current } = swap.p99;
    expect(gain.ms! / current.ms!).toBeGreaterThan(0.25);
    expect(gain.ms! / current.ms!).toBeLessThan(0.35);
    expect(gain.lowMs!).toBeLessThan(gain.ms!);
  });

  it('is not recommended when the interval of its success includes a larger drop, however fast, and says why', () => {
    const few = swapOf(side(slow, 40, 100_000), side(fast, 0, 300), limit);
    expect(few.success!.difference).toBeGreaterThan(0);
    expect([few.isRecommended, few.reasons]).toEqual([false, ['success_may_drop']]);
    expect(swapOf(side(slow, 40, 100_000), side(fast, 0, 300), 0.05).isRecommended).toBe(true);
    expect(swapOf(side(slow, 40, 100_000), side(fast, 0, 0), limit).reasons).toEqual(['success_unknown']);
  });

  it('is not recommended when answers get worse, when it is slower, or when nothing is gained', () => {
    const [a, b] = [side(slow, 40, 100_000, quality(0.9, 0.01)), side(fast, 20, 50_000, quality(0.8, 0.02))];
    expect(swapOf(a, b, limit).reasons).toEqual(['quality_drops']);
    expect(swapOf(b, a, limit).reasons).toContain('slower');
    const same = side(requests('same', { n: 3_000, shortShare: 0.3, factor: 1 }), 30, 100_000);
    expect(swapOf(side(slow, 40, 100_000), same, limit).reasons).toEqual(['no_gain']);
  });

  it('is not recommended when the candidate has hardly seen such requests', () => {
    const short = side(requests('short', { n: 2_000, shortShare: 1, factor: 0.6 }), 20, 50_000);
    const long = side(requests('long', { n: 2_000, shortShare: 0.2, factor: 1 }), 20, 50_000);
    const swap = swapOf(long, short, limit);
    expect(swap.reasons).toContain('little_matched');
    expect(swap.matchedShare).toBeCloseTo(0.2, 1);
  });
});

describe('a cause', () => {
  const factors = ['region', 'inputTokens', 'inFlight'] as const;
  const study = (before: Case[], after: Case[]) => causesOf({ before, after, factors, q: 0.5 });
  const claimed = (causes: ReturnType<typeof study>) =>
    causes.causes.filter(({ isClaimed }) => isClaimed).map(({ cause }) => cause);
  const base = requests('base', { n: 3_000, shortShare: 0.7, factor: 1 });

  it('longer prompts are told from a slower model, and a busy hour from both', () => {
    const longer = study(base, requests('longer', { n: 3_000, shortShare: 0.3, factor: 1 }));
    expect([longer.isClaimed, claimed(longer)]).toEqual([true, ['inputTokens']]);
    const slower = study(base, requests('slower', { n: 3_000, shortShare: 0.7, factor: 1.4 }));
    expect([slower.isClaimed, claimed(slower)]).toEqual([true, ['same']]);
    const quiet = requests('quiet', { n: 3_000, shortShare: 0.7, factor: 1, load: 0.2 });
    const busy = study(quiet, requests('busy', { n: 3_000, shortShare: 0.7, factor: 1, load: 0.7 }));
    expect(claimed(busy)).toEqual(['inFlight']);
    const both = study(base, requests('both', { n: 3_000, shortShare: 0.3, factor: 1.4 }));
    expect(claimed(both)).toEqual(['inputTokens', 'same']);
  });

  it('the parts add up to the whole difference', () => {
    for (let run = 0; run < 20; run++) {
      const { difference, causes } = study(
        requests(`a ${run}`, { n: 800, shortShare: 0.6, factor: 1, load: 0.3 }),
        requests(`b ${run}`, { n: 900, shortShare: 0.2, factor: 1.2, load: 0.6 }),
      );
      const sum = causes.reduce((total, cause) => total + cause.difference.ms!, 0);
      expect(sum).toBeCloseTo(difference.ms!, 6);
    }
  });

  it('where nothing changed, hardly ever is anything claimed', () => {
    let wrong = 0;
    for (let run = 0; run < 100; run++) {
      const shape = { n: 600, shortShare: 0.8, factor: 1, load: 0.3 };
      if (study(requests(`x ${run}`, shape), requests(`y ${run}`, shape)).isClaimed) wrong += 1;
    }
    expect(wrong).toBeLessThanOrEqual(5);
  });

  it('nothing is claimed of requests that are not alike at all', () => {
    const short = requests('only short', { n: 1_000, shortShare: 1, factor: 1 });
    const long = requests('only long', { n: 1_000, shortShare: 0, factor: 1 });
    const { isClaimed, beforeShare, difference } = study(short, long);
    expect([isClaimed, beforeShare, difference.ms]).toEqual([false, 0, null]);
  });
});

describe('abandonment', () => {
  it('finds the rate at which users leave, per second, whatever the width of the bin', () => {
    const draws = createDraws('patience');
    const [left, all] = [createHistogram(), createHistogram()];
    const perSecond = 0.05;
    for (let i = 0; i < 40_000; i++) {
      const [answered, patience] = [draws.exponential(4), draws.exponential(1 / perSecond)];
      const us = Math.round(Math.min(answered, patience) * 1e6);
      record(all, us, 1);
      if (patience < answered) record(left, us, 1);
    }
    const found = abandonment(left, all)!;
    expect(found.waited).toBe(40_000);
    expect(found.left / found.waited).toBeCloseTo(perSecond / (perSecond + 0.25), 1);
    for (const bin of found.bins.filter(({ left: n }) => n >= 20)) {
      expect(bin.perSecond!.low).toBeLessThan(perSecond * 1.02);
      expect(bin.perSecond!.high).toBeGreaterThan(perSecond * 0.98);
    }
    expect(found.bins.reduce((sum, bin) => sum + bin.ended, 0)).toBe(40_000);
    expect(found.bins.reduce((sum, bin) => sum + bin.left, 0)).toBe(found.left);
    expect(found.bins.map(({ waiting }) => waiting)).toEqual(
      found.bins.map((_, i) => 40_000 - found.bins.slice(0, i).reduce((sum, bin) => sum + bin.ended, 0)),
    );
  });

  it('nobody waited: nothing is said; nobody left: 0 with its upper bound', () => {
    expect(abandonment(createHistogram(), createHistogram())).toBeNull();
    const all = createHistogram();
    for (let i = 0; i < 100; i++) record(all, 100_000, 3);
    const [bin] = abandonment(createHistogram(), all)!.bins;
    expect(bin!.leftShare).toMatchObject({ share: 0, low: 0, n: 100 });
    expect(bin!.perSecond).toMatchObject({ value: 0, low: 0 });
    expect(bin!.perSecond!.high).toBeCloseTo(3.69 / 10, 1);
  });
});

it('Little: 600 requests of 2 s within 5 minutes are 4 in flight', () => {
  const histogram = createHistogram();
  for (let i = 0; i < 600; i++) record(histogram, 2_000_000, 1);
  expect(Math.abs(inFlightByLittle(histogram, 300) / 4 - 1)).toBeLessThan(0.0055);
});

it('calls of a stage count together as much as their request', () => {
  const call = {
    ...{ stage: 'llm', provider: 'p', model: 'm', modelRegion: 'r', startOffsetUs: 0, durationUs: 5, ttftUs: null },
    ...{ hopUs: null, providerQueueUs: null, modelUs: null, attempts: null, inputTokens: 70, outputTokens: null },
  };
  const row = { ...aRequest({ calls: [call, { ...call, durationUs: 9 }, { ...call, stage: 'tts' }], weight: 6 }) };
  const cases = callCases(row, 'llm');
  expect(cases.map(({ us, weight }) => [us, weight])).toEqual([
    [5, 3],
    [9, 3],
  ]);
  expect(cases[0]!.told).toEqual({ region: 'us-east-1', inputTokens: '7', outputTokens: null, inFlight: null });
});
