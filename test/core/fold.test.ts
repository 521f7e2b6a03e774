import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anatomyPoints } from '@/lib/core/anatomy';
import { cellId, packBlocks, unpackBlock } from '@/lib/core/block';
import { Calendar } from '@/lib/core/calendar';
import { decodeCell, encodeCell, mergeCell } from '@/lib/core/cell';
import { type FoldedPart, fold } from '@/lib/core/fold';
import type { TimedRequest } from '@/lib/core/request';
import { addToSample, createSample, DAY_LIMITS, mergeSample, type Sample, THIN_LIMITS } from '@/lib/core/sample';
import { decodeSample, encodeSample, openSample, sampleRows } from '@/lib/core/sampleCodec';
import { TERMS } from '@/lib/core/terms';
import { anyRequest, aRequest } from '../support/requests';

const calendar = new Calendar('Europe/Berlin');

function bytesOf(parts: FoldedPart[]): Record<string, string> {
  return Object.fromEntries(
    parts.flatMap((p) =>
      [...p.cells].map(([key, cell]) => [
        `${p.grouping} ${p.tier} ${p.family} ${p.periodS} ${key}`,
        Buffer.from(encodeCell(cell)).toString('hex'),
      ]),
    ),
  );
}

function mergeParts(all: FoldedPart[][]): FoldedPart[] {
  const merged = new Map<string, FoldedPart>();
  for (const part of all.flat()) {
    const id = `${part.grouping} ${part.tier} ${part.family} ${part.periodS}`;
    const into = merged.get(id);
    if (!into) merged.set(id, part);
    else
      for (const [key, cell] of part.cells) {
        const known = into.cells.get(key);
        if (known) mergeCell(known, cell);
        else into.cells.set(key, cell);
      }
  }
  return [...merged.values()];
}

test('folding pieces and merging them equals folding all, byte for byte, in every family', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyRequest, { selector: (r) => r.id, maxLength: 40 }),
      fc.integer({ min: 0, max: 40 }),
      (requests, cut) => {
        const whole = bytesOf(fold(requests, { calendar }));
        const pieces = [requests.slice(cut), requests.slice(0, cut)].map((piece) => fold(piece, { calendar }));
        expect(bytesOf(mergeParts(pieces))).toEqual(whole);
      },
    ),
    { numRuns: 15 },
  );
});

test('decode gives back every cell', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyRequest, { selector: (r) => r.id, minLength: 1, maxLength: 20 }), (requests) => {
      for (const part of fold(requests, { calendar })) {
        for (const cell of part.cells.values()) {
          const bytes = encodeCell(cell);
          expect(encodeCell(decodeCell(part.family, part.tier, bytes))).toEqual(bytes);
        }
      }
    }),
    { numRuns: 15 },
  );
});

test('anatomy windows add up to their wait', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyRequest, { selector: (r) => r.id, minLength: 1, maxLength: 80 }), (requests) => {
      const parts = fold(requests, {
        calendar,
        groupings: ['endpoint'],
        families: ['anatomyE2e'],
        wants: (tier) => tier === 'day',
      });
      for (const cell of parts.flatMap((p) => [...p.cells.values()])) {
        if (cell.family !== 'anatomyE2e') throw new Error('asked for anatomy');
        for (const point of anatomyPoints(cell.anatomy, [1, 50, 99, 99.9])) {
          const sum = TERMS.reduce((acc, term) => acc + point.terms[term], 0);
          expect(Math.abs(sum - point.waitMs)).toBeLessThan(1e-6 * Math.max(1, point.waitMs));
        }
      }
    }),
    { numRuns: 15 },
  );
});

test('a sample keeps all up to 2,048, then stays calibrated, whatever the order of merging', () => {
  const requests: TimedRequest[] = Array.from({ length: 5000 }, (_, i) =>
    aRequest({ id: `r${i}`, e2eUs: 1000 + ((i * 7919) % 100_000) * 37 }),
  );
  const sampleOf = (rows: TimedRequest[]) => {
    const sample = createSample();
    for (const row of rows) addToSample(sample, row, 'e2e');
    return sample;
  };
  const read = (samples: Sample[], most: number) =>
    sampleRows(
      samples.map((s) => openSample(encodeSample(s))),
      most,
    );
  const small = read([sampleOf(requests.slice(0, DAY_LIMITS.all))], 5000);
  expect(small).toMatchObject({ complete: true });
  expect(small.rows).toHaveLength(DAY_LIMITS.all);
  const whole = sampleOf(requests);
  const forward = sampleOf(requests.slice(0, 1500));
  mergeSample(forward, sampleOf(requests.slice(1500)));
  const backward = sampleOf(requests.slice(4000));
  mergeSample(backward, sampleOf(requests.slice(0, 4000)));
  expect(encodeSample(forward)).toEqual(encodeSample(whole));
  expect(encodeSample(backward)).toEqual(encodeSample(whole));
  for (const most of [100_000, 700, 200, 1]) {
    const { rows, complete } = read([whole, sampleOf(requests.slice(0, 300))], most);
    expect(complete).toBe(false);
    expect(rows.length).toBeLessThanOrEqual(Math.max(most, 2 * whole.buckets.size));
    expect(rows.reduce((sum, row) => sum + row.weight, 0)).toBeCloseTo(5300, 6);
  }
});

test('a thin sample is the same whether it is taken from the requests or from full samples', () => {
  const requests = fc.sample(anyRequest, { seed: 5, numRuns: 1500 }).map((r, i) => ({ ...r, id: `t${i}` }));
  const sampleOf = (rows: TimedRequest[], limits = DAY_LIMITS) => {
    const sample = createSample(limits);
    for (const row of rows) addToSample(sample, row, 'ttft');
    return sample;
  };
  const thin = createSample(THIN_LIMITS);
  for (let at = 0; at < requests.length; at += 100) mergeSample(thin, sampleOf(requests.slice(at, at + 100)));
  expect(encodeSample(thin)).toEqual(encodeSample(sampleOf(requests, THIN_LIMITS)));
  const bytes = encodeSample(thin);
  expect(encodeSample(decodeSample(bytes, THIN_LIMITS))).toEqual(bytes);
});

test('blocks give back their cells in order', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.uint8Array({ maxLength: 9000 })), (cells) => {
      const blocks = packBlocks(new Map(Object.entries(cells)));
      const back = blocks.flatMap((block) => [...unpackBlock(block.body)]);
      const byId = new Map(Object.entries(cells).map(([key, body]) => [cellId(key), [...body]]));
      expect(new Map(back.map(([id, body]) => [id, [...body]]))).toEqual(byId);
      const [one] = byId.keys();
      const some = blocks.flatMap((block) => [...unpackBlock(block.body, (id) => id === one)]);
      expect(some.map(([id]) => id)).toEqual(one === undefined ? [] : [one]);
    }),
    { numRuns: 50 },
  );
});

const us = (iso: string) => Date.parse(iso) * 1000;

test('Berlin: 23 and 25 hours lose or double nothing', () => {
  const hours = (from: string, to: string) =>
    calendar.cover(us(from), us(to), { finest: 'hour', coarsest: 'hour' }).length;
  expect(hours('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z')).toBe(23);
  expect(hours('2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z')).toBe(25);
  expect(calendar.cover(us('2026-03-28T23:00:00Z'), us('2026-03-29T22:00:00Z'), { finest: 'hour' })).toEqual([
    { tier: 'day', startS: us('2026-03-28T23:00:00Z') / 1e6 },
  ]);
});

test('Kathmandu: hours align to the local :00; Apia: its own days', () => {
  expect(new Calendar('Asia/Kathmandu').startS('hour', us('2026-06-01T10:30:00Z'))).toBe(
    us('2026-06-01T10:15:00Z') / 1e6,
  );
  expect(new Calendar('Pacific/Apia').startS('day', us('2026-06-01T10:30:00Z'))).toBe(us('2026-05-31T11:00:00Z') / 1e6);
});
