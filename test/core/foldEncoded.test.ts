import fc from 'fast-check';
import { expect, test } from 'vitest';
import { latencyBucket } from '@/lib/core/bucketTable';
import { Calendar } from '@/lib/core/calendar';
import { foldEncoded } from '@/lib/core/fold';
import { bucketIndex, LATENCY_SCALE } from '@/lib/core/histogram';
import type { TimedRequest } from '@/lib/core/request';
import { plainFold } from '../support/plainFold';
import { anyRequest, aRequest } from '../support/requests';

const calendar = new Calendar('Asia/Kathmandu');

function encoded(requests: readonly TimedRequest[]): Record<string, string> {
  return Object.fromEntries(
    foldEncoded(requests, { calendar }).flatMap((p) =>
      [...p.cells].map(([key, bytes]) => [
        `${p.grouping} ${p.tier} ${p.family} ${p.periodS} ${key}`,
        Buffer.from(bytes).toString('hex'),
      ]),
    ),
  );
}

const call = {
  stage: 'llm',
  provider: 'p',
  model: null,
  modelRegion: null,
  startOffsetUs: 3,
  durationUs: 9,
  ttftUs: null,
};
const calls = [
  { ...call, hopUs: 1, providerQueueUs: null, modelUs: 8, attempts: 1, inputTokens: null, outputTokens: 4 },
];

/** As `anyRequest`, with calls, traces and tokens on some, and every duration of others 0. */
const richRequest = fc
  .tuple(anyRequest, fc.constantFrom('plain', 'calls', 'trace', 'zero'), fc.integer({ min: 0, max: (1 << 20) - 1 }))
  .map(([request, kind, evidence]): TimedRequest => {
    if (kind === 'calls') return { ...request, evidence, calls, inputTokens: 5 };
    if (kind === 'trace')
      return { ...request, evidence, traceId: `t${request.id}`, outputTokens: 0, connection: 'new' };
    if (kind === 'zero')
      return { ...request, e2eUs: 0, ttftUs: null, decodeUs: null, terms: request.terms.map(() => null) };
    return { ...request, evidence };
  });

test('the fold’s bytes are those of adding each request to each cell it belongs to', () => {
  fc.assert(
    fc.property(fc.uniqueArray(richRequest, { selector: (r) => r.id, maxLength: 150 }), (requests) => {
      expect(encoded(requests)).toEqual(plainFold(requests, calendar));
    }),
    { numRuns: 30 },
  );
});

test('and so they are with thousands of requests a cell, where samples are thinned and ids collide', () => {
  const requests = fc.sample(richRequest, { seed: 5, numRuns: 6_000 }).map((request, i) => ({
    ...request,
    // some ids twice, with other content
    id: `r${i % 5_900}`,
    startedAtUs: aRequest().startedAtUs + (i % 2) * 3_600_000_000,
    dims: { ...aRequest().dims, version: i % 3 === 0 ? 'v1' : null },
    e2eUs: request.e2eUs + i,
    decodeUs: request.ttftUs === null ? null : request.e2eUs + i - request.ttftUs,
  }));
  expect(encoded(requests)).toEqual(plainFold(requests, calendar));
});

test('nothing folds to nothing', () => {
  expect(foldEncoded([], { calendar })).toEqual([]);
});

test('buckets by table are buckets by logarithm, for every whole number of microseconds', () => {
  const wrong: number[] = [];
  const check = (us: number) => {
    if (us >= 1 && latencyBucket(us) !== bucketIndex(us, LATENCY_SCALE)) wrong.push(us);
  };
  for (let us = 1; us < 300_000; us++) check(us);
  for (let index = -1_270; index < 2_000; index++) {
    const edge = Math.round(2 ** (index / 64) * 1e6);
    for (let us = edge - 2; us <= edge + 2; us++) check(us);
  }
  for (const us of fc.sample(fc.maxSafeNat(), { seed: 1, numRuns: 10_000 })) check(us);
  expect(wrong).toEqual([]);
});
