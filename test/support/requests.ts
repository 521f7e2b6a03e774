import fc from 'fast-check';
import type { TimedRequest } from '@/lib/core/request';
import { CACHES, MEASURED_TERMS, OUTCOMES } from '@/lib/core/terms';

/** A plain ok request; give what matters. */
export function aRequest(given: Partial<TimedRequest> = {}): TimedRequest {
  return {
    id: 'r',
    startedAtUs: Date.parse('2026-11-20T10:00:00Z') * 1000,
    dims: {
      ...{ endpoint: '/v1/infer', vantage: 'client', environment: null, version: null, clientRegion: 'eu-west-2' },
      ...{ serviceRegion: 'us-east-1', provider: null, model: null, modelRegion: null },
    },
    ...{
      outcome: 'ok',
      e2eUs: 200_000,
      ttftUs: null,
      terms: MEASURED_TERMS.map(() => null),
      evidence: 0,
      decodeUs: null,
    },
    ...{
      serviceUs: null,
      connection: null,
      roundTrips: null,
      rttUs: null,
      calls: [],
      inputTokens: null,
      outputTokens: null,
    },
    ...{
      cachedInputTokens: null,
      inFlight: null,
      cache: null,
      quality: null,
      weight: 1,
      traceId: null,
      sessionId: null,
    },
    attributes: null,
    ...given,
  };
}

/** Any request that can be stored: its parts add up and none is negative. */
export const anyRequest: fc.Arbitrary<TimedRequest> = fc
  .record({
    id: fc.uuid(),
    minutes: fc.integer({ min: 0, max: 3000 }),
    endpoint: fc.constantFrom('/v1/a', '/v1/b'),
    clientRegion: fc.constantFrom('eu-west-2', 'us-east-1', null),
    outcome: fc.constantFrom(...OUTCOMES),
    cache: fc.constantFrom(...CACHES, null),
    parts: fc.array(fc.option(fc.integer({ min: 0, max: 2_000_000 })), {
      minLength: MEASURED_TERMS.length,
      maxLength: MEASURED_TERMS.length,
    }),
    rest: fc.integer({ min: 0, max: 500_000 }),
    decodeUs: fc.option(fc.integer({ min: 1, max: 5_000_000 })),
    weight: fc.integer({ min: 1, max: 9 }),
    quality: fc.constantFrom(null, null, 0, 0.1234, 1),
    inFlight: fc.constantFrom(null, 0, 7, 2_000_000_000),
  })
  .map(({ id, minutes, endpoint, clientRegion, outcome, cache, parts, rest, decodeUs, weight, quality, inFlight }) => {
    const first = parts.reduce<number>((sum, us) => sum + (us ?? 0), rest);
    const base = aRequest();
    return aRequest({
      ...{ id, outcome, cache, weight, terms: parts, decodeUs, quality, inFlight },
      startedAtUs: base.startedAtUs + minutes * 60_000_000,
      dims: { ...base.dims, endpoint, clientRegion },
      e2eUs: first + (decodeUs ?? 0),
      ttftUs: decodeUs === null ? null : first,
    });
  });
