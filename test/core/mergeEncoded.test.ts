import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Calendar } from '@/lib/core/calendar';
import { type Cell, emptyCell, encodeCell, isEmpty, mergeStored } from '@/lib/core/cell';
import { type EncodedPart, foldEncoded } from '@/lib/core/fold';
import { Merger } from '@/lib/core/mergeEncoded';
import { anyRequest } from '../support/requests';

const calendar = new Calendar('UTC');

/** Place and key → the stored cells that stand there, one of each piece. */
function standing(pieces: readonly EncodedPart[][]): Map<string, { part: EncodedPart; bodies: Uint8Array[] }> {
  const found = new Map<string, { part: EncodedPart; bodies: Uint8Array[] }>();
  for (const part of pieces.flat()) {
    for (const [key, bytes] of part.cells) {
      const name = `${part.grouping} ${part.tier} ${part.family} ${part.periodS} ${key}`;
      const known = found.get(name);
      if (known) known.bodies.push(bytes);
      else found.set(name, { part, bodies: [bytes] });
    }
  }
  return found;
}

test('stored cells merge to the bytes of decoding, adding and encoding them, in every family', () => {
  const merger = new Merger();
  fc.assert(
    fc.property(
      fc.uniqueArray(anyRequest, { selector: (r) => r.id, minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      (requests, count) => {
        const pieces = Array.from({ length: count }, (_, k) =>
          foldEncoded(
            requests.filter((_r, i) => i % count === k),
            { calendar },
          ),
        );
        for (const { part, bodies } of standing(pieces).values()) {
          const cell: Cell = emptyCell(part.family, part.tier);
          for (const body of bodies) mergeStored(cell, body);
          const plain = isEmpty(cell) ? null : Buffer.from(encodeCell(cell)).toString('hex');
          const merged = merger.merge(part.family, part.tier, bodies);
          expect(merged && Buffer.from(merged).toString('hex')).toBe(plain);
        }
      },
    ),
    { numRuns: 20 },
  );
});
