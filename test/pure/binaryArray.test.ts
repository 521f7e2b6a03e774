import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberArray, textArray, wordsArray } from '../../lib/db/binaryArray';
import { readIds, readNumbers, readTexts } from '../../lib/db/readArray';

const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values), { maxLength: 40 });
const LIMITS = { 'bigint[]': 2 ** 53 - 1, 'integer[]': 2 ** 31 - 1, 'smallint[]': 2 ** 15 - 1 } as const;

it('reads the numbers that were written, whatever their type', () => {
  for (const [type, max] of Object.entries(LIMITS) as [keyof typeof LIMITS, number][]) {
    fc.assert(
      fc.property(orNull(fc.integer({ min: -max - 1, max })), (values) => {
        expect(readNumbers(numberArray(type, values))).toEqual(values);
      }),
    );
  }
});

it('reads reals with the fewest digits that tell them', () => {
  fc.assert(
    fc.property(orNull(fc.float({ noNaN: true, noDefaultInfinity: true })), (values) => {
      const read = readNumbers(numberArray('real[]', values));
      expect(read.map((value) => value && Math.fround(value))).toEqual(values);
    }),
  );
  expect(readNumbers(numberArray('real[]', [0.9, 0.1, 1 / 3, 16_777_216]))).toEqual([0.9, 0.1, 0.33333334, 16_777_216]);
});

it('reads texts, long and beyond ASCII', () => {
  fc.assert(
    fc.property(orNull(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('é'.repeat(300)))), (values) => {
      expect(readTexts(textArray(values))).toEqual(values);
    }),
  );
});

it('reads ids of 63 bits as decimal text, also those that differ in their highest bits only', () => {
  const words = fc.record({ high: fc.integer({ min: 0, max: 2 ** 31 - 1 }), low: fc.integer() });
  const close = fc.constantFrom(...[0, 1, 2, 1_023].map((top) => ({ high: top * 2 ** 21 + 7, low: -1 })));
  fc.assert(
    fc.property(orNull(fc.oneof(words, close)), (values) => {
      const texts = values.map((id) => id && ((BigInt(id.high) << 32n) | BigInt(id.low >>> 0)).toString());
      expect(readIds(wordsArray(values))).toEqual(texts);
    }),
  );
});
