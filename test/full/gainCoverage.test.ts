// How often the lower end of a gain's interval lies above the true gain: at most 5 % of simulated weeks.
import { describe, expect, it } from 'vitest';
import { analyse } from '@/lib/core/gains';
import { MEASURED_TERMS } from '@/lib/core/terms';
import { aRequest } from '../support/requests';

/** A seeded stream of uniforms (mulberry32). */
function uniforms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Draw = (u: () => number) => { restMs: number; retryMs: number };
const exponential = (u: () => number, mean: number) => -mean * Math.log(1 - u());

/** Rest of the wait and avoidable part, in ms. */
const SHAPES: Record<string, Draw> = {
  steady: (u) => ({ restMs: 100 + exponential(u, 50), retryMs: 300 }),
  exponential: (u) => ({ restMs: 100 + exponential(u, 50), retryMs: exponential(u, 80) }),
  'rare and long': (u) => ({ restMs: 100 + exponential(u, 50), retryMs: u() < 0.015 ? 3000 + 500 * u() : 0 }),
  'just below the tail': (u) => ({ restMs: 100 + exponential(u, 50), retryMs: u() < 0.009 ? 3000 : 0 }),
  'heavy tail': (u) => ({ restMs: 50 / (1 - u()) ** 0.5, retryMs: 20 / (1 - u()) ** 0.6 }),
  bimodal: (u) => ({ restMs: u() < 0.5 ? 100 : 400 + 50 * u(), retryMs: u() < 0.1 ? 200 * u() : 10 }),
};

function rowsOf(draw: Draw, n: number, seed: number) {
  const u = uniforms(seed);
  return Array.from({ length: n }, (_, i) => {
    const { restMs, retryMs } = draw(u);
    const retryUs = Math.round(retryMs * 1000);
    const terms = MEASURED_TERMS.map((term) => (term === 'retry' ? retryUs : null));
    return aRequest({ id: `${i}`, e2eUs: Math.round(restMs * 1000) + retryUs, terms });
  });
}

const gainOf = (draw: Draw, n: number, seed: number) =>
  analyse({
    rows: rowsOf(draw, n, seed),
    ...{
      complete: true,
      basis: 'e2e',
      context: { overrides: [], deployableRegions: null, version: '0' },
      seed: `${seed}`,
    },
  }).gains.retry.p99;

/** The p99 gain of the shape itself (ms), from many requests. */
function trueGainMs(draw: Draw): number {
  const u = uniforms(99);
  const n = 1_000_000;
  const before = new Float64Array(n);
  const after = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const { restMs, retryMs } = draw(u);
    before[i] = restMs + retryMs;
    after[i] = restMs;
  }
  const at = Math.ceil(0.99 * n) - 1;
  return before.sort()[at]! - after.sort()[at]!;
}

describe('the lower end of a gain', () => {
  it.each(Object.keys(SHAPES))('%s', (shape) => {
    const truth = trueGainMs(SHAPES[shape]!);
    const weeks = 200;
    let wrong = 0;
    for (let week = 0; week < weeks; week++) {
      const gain = gainOf(SHAPES[shape]!, 1000, 1000 + week);
      if (gain.lowMs !== null && gain.lowMs > truth + 0.01) wrong += 1;
    }
    // 5 %, and what 200 weeks can be off by chance
    expect(wrong).toBeLessThanOrEqual(0.05 * weeks + 6);
  });
});
