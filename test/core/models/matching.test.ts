import fc from 'fast-check';
import { expect, it } from 'vitest';
import { binEdges, binOf } from '@/lib/core/models/bins';
import { match, type Unit } from '@/lib/core/models/matching';
import { toldFactors, unitsOf } from '@/lib/core/models/units';
import { valueAt, weigh } from '@/lib/core/models/weighed';

const anyUnit: fc.Arbitrary<Unit> = fc.record({
  us: fc.integer({ min: 1, max: 1_000_000 }),
  weight: fc.integer({ min: 1, max: 5 }),
  stratum: fc.constantFrom('a', 'b', 'c', 'd', null),
});
const someUnits = fc.array(anyUnit, { maxLength: 80 });

it('bins double: each count lies within the edges of its bin, and bins touch', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (count) => {
      const { from, to } = binEdges(binOf(count));
      expect(from <= count && count <= to).toBe(true);
      expect(binEdges(binOf(to) + 1).from).toBe(to + 1);
    }),
  );
});

it('both sides weigh the same, only in strata that both have, whatever the target', () => {
  fc.assert(
    fc.property(someUnits, someUnits, fc.constantFrom('reference', 'candidate', 'both'), (a, b, target) => {
      const matched = match(a, b, target as 'both');
      expect(matched.reference.total).toBeCloseTo(matched.candidate.total, 9);
      expect(matched.reference.total).toBeCloseTo(matched.strata > 0 ? 1 : 0, 9);
      const count = (units: readonly Unit[], s: string) => units.filter(({ stratum }) => stratum === s).length;
      const common = ['a', 'b', 'c', 'd'].filter((s) => count(a, s) >= 5 && count(b, s) >= 5);
      expect(matched.strata).toBe(common.length);
      const weight = (units: readonly Unit[]) => units.reduce((sum, unit) => sum + unit.weight, 0);
      const inside = a.filter(({ stratum }) => stratum !== null && common.includes(stratum));
      if (a.length > 0) expect(matched.referenceShare).toBeCloseTo(weight(inside) / weight(a), 9);
      else expect(matched.referenceShare).toBeNull();
    }),
  );
});

it('against itself nothing differs and all that tells its stratum is matched', () => {
  fc.assert(
    fc.property(someUnits, (units) => {
      const { reference, candidate } = match(units, units, 'both');
      expect([...reference.values]).toEqual([...candidate.values]);
    }),
  );
});

it('where long prompts go to one host, the difference of the mix is gone and that of the host stays', () => {
  // short prompts take 100 ms, long ones 900; the second host adds 50 to each
  const units = (short: number, long: number, added: number): Unit[] =>
    ['short', 'long'].flatMap((stratum) =>
      Array.from({ length: stratum === 'short' ? short : long }, (_, i) => ({
        ...{ stratum, weight: 1 },
        us: ((stratum === 'short' ? 100 : 900) + added + (i % 21) - 10) * 1_000,
      })),
    );
  const [first, second] = [units(900, 100, 0), units(100, 900, 50)];
  const plain = (some: Unit[]) => valueAt(weigh(some.map(({ us, weight }) => ({ value: us, weight }))), 0.5).ms!;
  expect(plain(second) - plain(first)).toBeGreaterThan(800);
  for (const target of ['reference', 'candidate'] as const) {
    const matched = match(first, second, target);
    const difference = valueAt(matched.candidate, 0.5).ms! - valueAt(matched.reference, 0.5).ms!;
    expect(Math.abs(difference - 50)).toBeLessThanOrEqual(1);
  }
});

it('matches on what most of both tell, and leaves out who does not tell it', () => {
  const told = (inputTokens: string | null) => ({
    ...{ us: 1, weight: 1 },
    told: { region: 'r', inputTokens, outputTokens: null, inFlight: null },
  });
  const [a, b] = [
    [told('3'), told('4'), told(null)],
    [told('3'), told('3')],
  ];
  expect(toldFactors([a, b], ['region', 'inputTokens', 'outputTokens'])).toEqual(['region', 'inputTokens']);
  expect(toldFactors([a, [told(null)]], ['region', 'inputTokens'])).toEqual(['region']);
  expect(unitsOf(a, ['region', 'inputTokens']).map(({ stratum }) => stratum)).toEqual(['r|3', 'r|4', null]);
});
