// The network testbed's requests as spans of four services, against the same requests as events: the percentiles, the
// gains and the named lever agree, also when the clock of any host is half a second off.
import { describe, expect, it } from 'vitest';
import { analyse } from '../../../lib/core/gains';
import { type TimedRequest, unattributedUs } from '../../../lib/core/request';
import type { Lever } from '../../../lib/core/terms';
import { LEVER_OF, readTruthExpected, TERM_OF, TRUTH_LEVERS, TRUTH_TERMS } from '../../support/groundTruth';
import { requestsOf, shiftClock, termMs, testbedSpans } from '../../support/traces';

const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 } as const;
const nearestRank = (sorted: readonly number[], q: number) => sorted[Math.ceil(q * sorted.length) - 1]!;
const SERVICES = ['london-app', 'inference-gateway', 'inference-worker', 'model-server'];

describe.each(['geography76', 'queue'] as const)('%s', (variant) => {
  const expected = readTruthExpected(variant);
  const spans = testbedSpans(variant);
  const requests = requestsOf(spans).map(({ request }) => request);

  it('is one request a trace, seen by its client in London', () => {
    expect(requests.length).toBe(expected.requests);
    for (const { dims } of requests)
      expect(dims).toMatchObject({ vantage: 'client', clientRegion: 'eu-west-2', serviceRegion: 'us-east-1' });
  });

  it.each(['e2e', ...TRUTH_TERMS] as const)('has the percentiles of %s', (term) => {
    const values = requests
      .map((request) => (term === 'e2e' ? request.e2eUs / 1_000 : (termMs(request, TERM_OF[term]) ?? 0)))
      .sort((a, b) => a - b);
    for (const [key, q] of Object.entries(QUANTILES)) {
      const truth = (term === 'e2e' ? expected.e2e : expected.terms[term])[key as keyof typeof QUANTILES];
      const ms = nearestRank(values, q);
      expect(Math.abs(ms - truth), `${term} ${key}: ${ms}, true ${truth}`).toBeLessThanOrEqual(
        Math.max(0.012 * truth, 0.05),
      );
    }
  });

  it('has the gains, and names the lever', () => {
    const overrides = TRUTH_LEVERS.map((term) => ({
      lever: LEVER_OF[term] as Lever,
      floorMs: expected.floorsMs[term],
    }));
    const context = { overrides, deployableRegions: null, version: 'test' };
    const analysis = analyse({ rows: requests, complete: true, basis: 'e2e', context, seed: 'test' });
    for (const term of TRUTH_LEVERS) {
      for (const key of ['p50', 'p90', 'p95', 'p99'] as const) {
        const truth = expected.counterfactual[term].savingMs[key];
        const gain = analysis.gains[LEVER_OF[term]][key].ms;
        // No replica started in these variants, so no span tells of one
        if (term === 'cold') expect(gain).toBeNull();
        else expect(Math.abs(gain! - truth), `${term} ${key}`).toBeLessThanOrEqual(Math.max(1, 0.05 * truth));
      }
    }
    const intended = expected.intendedLargestAvoidableTerm;
    expect(analysis.largestAvoidable?.levers ?? []).toEqual(intended === 'none' ? [] : [LEVER_OF[intended]]);
  });

  it('leaves at most 5 % unattributed', () => {
    for (const request of requests) expect(unattributedUs(request) / request.e2eUs).toBeLessThanOrEqual(0.05);
  });

  it.each(SERVICES.flatMap((service) => [-500_000, 500_000].map((by) => [service, by] as const)))(
    'changes no term by more than 5 ms when the clock of %s is off by %d µs',
    (service, byUs) => {
      const shifted = requestsOf(shiftClock(spans, service, byUs)).map(({ request }) => request);
      const aligned = new Map(requests.map((request) => [request.id, request]));
      expect(shifted.length).toBe(requests.length);
      for (const request of shifted) {
        const other = aligned.get(request.id)!;
        expect(request.e2eUs).toBe(other.e2eUs);
        expectNear(request, other);
      }
    },
  );

  function expectNear(one: TimedRequest, other: TimedRequest): void {
    one.terms.forEach((us, i) => {
      const before = other.terms[i] ?? null;
      expect(us === null, `term ${i} of ${one.id}`).toBe(before === null);
      if (us !== null && Math.abs(us - before!) > 5_000)
        expect.fail(`term ${i} of ${one.id}: ${us} µs, was ${before} µs`);
    });
  }
});
