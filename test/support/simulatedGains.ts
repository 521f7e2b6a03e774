// Requests drawn from known shapes, so that the true gain is known too.
import { type Analysis, analyse } from '@/lib/core/gains';
import type { SampledRequest, TimedRequest } from '@/lib/core/request';
import { MEASURED_TERMS } from '@/lib/core/terms';
import { aRequest } from './requests';

/** A seeded stream of uniforms (mulberry32). */
export function uniforms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Draw = (u: () => number) => { restMs: number; retryMs: number };
const exponential = (u: () => number, mean: number) => -mean * Math.log(1 - u());

/** Rest of the wait and avoidable part, in ms. */
export const SHAPES: Record<string, Draw> = {
  steady: (u) => ({ restMs: 100 + exponential(u, 50), retryMs: 300 }),
  exponential: (u) => ({ restMs: 100 + exponential(u, 50), retryMs: exponential(u, 80) }),
  'rare and long': (u) => ({ restMs: 100 + exponential(u, 50), retryMs: u() < 0.015 ? 3000 + 500 * u() : 0 }),
  'just below the tail': (u) => ({ restMs: 100 + exponential(u, 50), retryMs: u() < 0.009 ? 3000 : 0 }),
  'heavy tail': (u) => ({ restMs: 50 / (1 - u()) ** 0.5, retryMs: 20 / (1 - u()) ** 0.6 }),
  bimodal: (u) => ({ restMs: u() < 0.5 ? 100 : 400 + 50 * u(), retryMs: u() < 0.1 ? 200 * u() : 10 }),
};

export function rowsOf(draw: Draw, n: number, seed: number): TimedRequest[] {
  const u = uniforms(seed);
  const { dims } = aRequest();
  return Array.from({ length: n }, (_, i) => {
    const { restMs, retryMs } = draw(u);
    const retryUs = Math.round(retryMs * 1000);
    const terms = MEASURED_TERMS.map((term) => (term === 'retry' ? retryUs : null));
    return aRequest({ id: `${seed}-${i}`, dims, e2eUs: Math.round(restMs * 1000) + retryUs, terms });
  });
}

export const gainsOf = (rows: SampledRequest[], seed: string): Analysis['gains']['retry'] =>
  analyse({
    rows,
    complete: true,
    basis: 'e2e',
    context: { overrides: [], deployableRegions: null, version: '0' },
    seed,
  }).gains.retry;

/** The gains of the shape itself (ms), from a million requests. */
export function trueGainsMs(draw: Draw): Record<'p50' | 'p90' | 'p99', number> {
  const u = uniforms(99);
  const n = 1_000_000;
  const before = new Float64Array(n);
  const after = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const { restMs, retryMs } = draw(u);
    before[i] = restMs + retryMs;
    after[i] = restMs;
  }
  before.sort();
  after.sort();
  const at = (q: number) => Math.ceil(q * n) - 1;
  const gain = (q: number) => before[at(q)]! - after[at(q)]!;
  return { p50: gain(0.5), p90: gain(0.9), p99: gain(0.99) };
}

/** In how many of so many simulated weeks the lower end of each gain lies above the truth. */
export function lowerEndErrs(shape: string, question: { n: number; weeks: number; firstSeed: number }) {
  const draw = SHAPES[shape]!;
  const truth = trueGainsMs(draw);
  const wrong = { p50: 0, p90: 0, p99: 0 };
  for (let week = 0; week < question.weeks; week++) {
    const gains = gainsOf(rowsOf(draw, question.n, question.firstSeed + week), `${week}`);
    for (const key of ['p50', 'p90', 'p99'] as const) {
      const { lowMs } = gains[key];
      if (lowMs !== null && lowMs > truth[key] + 0.01) wrong[key] += 1;
    }
  }
  return wrong;
}
