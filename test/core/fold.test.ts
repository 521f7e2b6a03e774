import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anatomyPoints } from '@/lib/core/anatomy';
import { packBlocks, unpackBlock } from '@/lib/core/block';
import { Calendar } from '@/lib/core/calendar';
import { decodeCell, encodeCell, mergeCell } from '@/lib/core/cell';
import { type FoldedPart, fold } from '@/lib/core/fold';
import type { TimedRequest } from '@/lib/core/request';
import { addToSample, createSample, encodeSample, KEEP_ALL, mergeSample, sampleRows } from '@/lib/core/sample';
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
          expect(encodeCell(decodeCell(part.family, bytes))).toEqual(bytes);
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
        groupings: ['all'],
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
  expect(sampleRows(sampleOf(requests.slice(0, KEEP_ALL)))).toHaveLength(KEEP_ALL);
  const whole = sampleOf(requests);
  const forward = sampleOf(requests.slice(0, 1500));
  mergeSample(forward, sampleOf(requests.slice(1500)));
  const backward = sampleOf(requests.slice(4000));
  mergeSample(backward, sampleOf(requests.slice(0, 4000)));
  expect(encodeSample(forward)).toEqual(encodeSample(whole));
  expect(encodeSample(backward)).toEqual(encodeSample(whole));
  const rows = sampleRows(whole);
  expect(rows.length).toBeLessThan(5000);
  expect(rows.reduce((sum, row) => sum + row.weight, 0)).toBeCloseTo(5000, 6);
});

test('blocks give back their cells in order', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.uint8Array({ maxLength: 9000 })), (cells) => {
      const blocks = packBlocks(new Map(Object.entries(cells)));
      const back = blocks.flatMap((block) => [...unpackBlock(block.body)]);
      expect(back.map(([, body]) => [...body]).length).toBe(Object.keys(cells).length);
      for (const [key, body] of back) expect([...body]).toEqual([...cells[key]!]);
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
