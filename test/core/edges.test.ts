import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '@/lib/core/bytes';
import { Calendar } from '@/lib/core/calendar';
import { type CellKey, formatKey, keyPrefix, parseKey } from '@/lib/core/cell';
import { createHistogram, decodeHistogram, encodeHistogram, mergeHistogram, record } from '@/lib/core/histogram';
import { toQuantiles } from '@/lib/core/quantile';
import { breakdown, waitUs } from '@/lib/core/request';
import { addToSample, createSample, mergeSample } from '@/lib/core/sample';
import { encodeSample } from '@/lib/core/sampleCodec';
import { OUTCOMES, VANTAGES } from '@/lib/core/terms';
import { anyRequest, aRequest } from '../support/requests';

test('the known terms add up to the wait of either basis, for every outcome', () => {
  fc.assert(
    fc.property(anyRequest, fc.constantFrom(...OUTCOMES), fc.boolean(), (drawn, outcome, streamed) => {
      const request = { ...drawn, outcome, ttftUs: streamed ? drawn.ttftUs : null };
      for (const basis of ['e2e', 'ttft'] as const) {
        const wait = waitUs(request, basis);
        if (wait === null) continue;
        const sum = Object.values(breakdown(request, basis)).reduce<number>((acc, us) => acc + (us ?? 0), 0);
        expect(sum).toBe(wait);
      }
    }),
  );
});

const name = fc.oneof(fc.constantFrom('', '*', '\u0001', '\u0002', 'a\u001fb', '\u001bA'), fc.string());
const keys: fc.Arbitrary<CellKey> = fc.record(
  {
    ...{ endpoint: name, clientRegion: fc.option(name), serviceRegion: fc.option(name), provider: fc.option(name) },
    ...{ model: fc.option(name), modelRegion: fc.option(name), version: fc.option(name) },
    vantage: fc.constantFrom(...VANTAGES),
    environment: fc.option(name),
    outcome: fc.constantFrom(...OUTCOMES),
    cached: fc.boolean(),
  },
  { requiredKeys: ['vantage', 'environment', 'outcome', 'cached'] },
);

test('a cell key reads back: dropped, not told, empty and control characters stay distinct', () => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      expect(parseKey(formatKey(a))).toEqual(a);
      expect(formatKey(a) === formatKey(b)).toBe(
        JSON.stringify(parseKey(formatKey(a))) === JSON.stringify(parseKey(formatKey(b))),
      );
      if (typeof a.endpoint === 'string') expect(formatKey(a).startsWith(keyPrefix(a.endpoint))).toBe(true);
    }),
  );
});

test('numbers read back whatever their size, wherever they stand in the buffer', () => {
  const values = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 1e18 + i * 1024 : i * 7));
  const writer = new ByteWriter();
  for (const value of values) writer.unsigned(value);
  const reader = new ByteReader(writer.bytes());
  expect(values.map(() => reader.unsigned())).toEqual(values);
  expect(reader.done).toBe(true);
});

test('the largest weights keep every field of a histogram', () => {
  const histogram = createHistogram();
  for (let i = 1; i <= 200; i++) record(histogram, i * 1000, 1_000_000_000);
  expect(decodeHistogram(encodeHistogram(histogram))).toEqual(histogram);
  expect(toQuantiles(histogram).p99).toMatchObject({ ms: null, reason: 'too_few' });
});

test('taking everything away leaves the bytes of an empty histogram', () => {
  const histogram = createHistogram();
  record(histogram, 5000, 3);
  mergeHistogram(histogram, histogram.n ? decodeHistogram(encodeHistogram(histogram)) : histogram, -1);
  expect(encodeHistogram(histogram)).toEqual(encodeHistogram(createHistogram()));
});

test('percentiles of one population never fall', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9e8 }), { minLength: 3000, maxLength: 4000 }), (durations) => {
      const histogram = createHistogram();
      for (const us of durations) record(histogram, us, 1);
      const { p50, p90, p95, p99, p999, maxMs } = toQuantiles(histogram);
      const shown = [p50, p90, p95, p99, p999].flatMap((v) => (v.ms === null ? [] : [v.ms]));
      expect([...shown, maxMs]).toEqual([...shown, maxMs!].sort((a, b) => a - b));
    }),
    { numRuns: 10 },
  );
});

test('samples of an id sent twice with other content are the same in either order', () => {
  const [a, b] = [createSample(), createSample()];
  addToSample(a, aRequest({ id: 'twice', startedAtUs: 1_000_000, e2eUs: 500_000 }), 'e2e');
  addToSample(b, aRequest({ id: 'twice', startedAtUs: 2_000_000, e2eUs: 500_000 }), 'e2e');
  const [ab, ba] = [createSample(), createSample()];
  for (const part of [a, b]) mergeSample(ab, part);
  for (const part of [b, a]) mergeSample(ba, part);
  expect(encodeSample(ab)).toEqual(encodeSample(ba));
});

const DAYS = ['2026-04-05', '2026-10-04', '2026-03-29', '2026-10-25', '2026-12-01'];
test.each(['Australia/Lord_Howe', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Apia', 'America/St_Johns'])(
  'the hours of %s tile the days around its changes of offset',
  (zone) => {
    const calendar = new Calendar(zone);
    for (const day of DAYS) {
      const fromUs = Date.parse(`${day}T00:00:00Z`) * 1000 - 43_200e6;
      const cover = calendar.cover(fromUs, fromUs + 172_800e6, { finest: 'hour', coarsest: 'hour' });
      for (const [i, { startS }] of cover.entries()) {
        expect(calendar.startS('hour', startS * 1e6)).toBe(startS);
        const endS = calendar.endS('hour', startS);
        expect(cover[i + 1]?.startS ?? endS).toBe(endS);
        for (let s = startS; s < endS; s += 300) expect(calendar.startS('hour', s * 1e6)).toBe(startS);
      }
    }
  },
);
