import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CACHES, CONNECTIONS, OUTCOMES, QUEUE_KINDS, VANTAGES } from '../../../lib/core/terms';
import { attribute } from '../../../lib/ingest/attribute';
import { eventSchema } from '../../../lib/ingest/contract';
import { hotCheck } from '../../../lib/ingest/hotCheck';
import { schemaCheck } from '../../../lib/ingest/validate';

const at = { startedAtUs: 1_764_590_400_000_000, defaultVantage: 'service' as const };

/** What both say of an item, each in full: what would be stored, and what is counted. */
function verdicts(item: unknown): { hot: unknown; schema: unknown } {
  const [hot, schema] = [hotCheck(item), schemaCheck(item)];
  const stored = (checked: NonNullable<typeof hot>) => ({
    ...attribute(checked.event, at),
    startedAt: checked.event.startedAt,
    unknownFields: checked.unknownFields,
  });
  return { hot: hot === null ? 'refused' : stored(hot), schema: 'ok' in schema ? 'refused' : stored(schema) };
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : { deep: deep(levels - 1) });

const odd = fc.constantFrom<unknown>(
  ...[deep(5), deep(6), deep(7), deep(8), JSON.parse('{"a":{"__proto__":1}}')],
  ...[null, undefined, '', 0, -0, -1, 1, 0.5, 1e6, 1_000_001, 1e9 + 1, 604_800_000, 604_800_001, 1e308],
  ...[
    Number.POSITIVE_INFINITY,
    'a\0b',
    '\ud800x',
    'é😀',
    'x'.repeat(64),
    'x'.repeat(65),
    'x'.repeat(200),
    'x'.repeat(201),
  ],
  ...[
    'x'.repeat(257),
    [],
    {},
    true,
    ...VANTAGES,
    ...OUTCOMES,
    ...CONNECTIONS,
    ...CACHES,
    ...QUEUE_KINDS,
    32_767,
    32_768,
    2_000_000_001,
  ],
);
const value = fc.oneof({ weight: 3, arbitrary: odd }, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.string());
const ms = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined });
const terms = fc.record(
  { queueMs: ms, modelMs: ms, networkMs: ms, modelHopMs: ms, extra: fc.constantFrom(undefined, 1) },
  { requiredKeys: [] },
);
const call = fc.record(
  {
    stage: fc.constantFrom('llm', 'tool', ''),
    durationMs: ms,
    modelMs: ms,
    startOffsetMs: ms,
    attempts: value,
    note: value,
  },
  { requiredKeys: ['stage', 'durationMs'] },
);
const attributes = fc.dictionary(fc.oneof(fc.string({ maxLength: 8 }), fc.constant('__proto__')), fc.string(), {
  maxKeys: 22,
});
const good = { id: 'a', startedAt: 1_764_590_400_000, endpoint: 'chat', e2eMs: 100 };
const fields = [...Object.keys(eventSchema.shape), 'unknown', '__proto__', 'constructor', 'toString'];

/** A valid event with some fields replaced by anything. */
const nearlyValid = fc
  .tuple(
    fc.record(
      { terms: fc.option(terms), calls: fc.option(fc.array(call, { maxLength: 3 })), ttftMs: ms },
      { requiredKeys: [] },
    ),
    fc.option(attributes, { nil: undefined }),
    fc.array(fc.tuple(fc.constantFrom(...fields), value), { maxLength: 3 }),
  )
  .map(([base, labels, changes]) => {
    const item: Record<string, unknown> = { ...good, ...base, ...(labels === undefined ? {} : { attributes: labels }) };
    for (const [name, changed] of changes)
      Object.defineProperty(item, name, { value: changed, enumerable: true, configurable: true, writable: true });
    return item;
  });

describe('the check by hand and the schema', () => {
  it('accept exactly the same, and what they accept is stored and counted the same', () => {
    let accepted = 0;
    fc.assert(
      fc.property(nearlyValid, (item) => {
        const { hot, schema } = verdicts(item);
        if (hot !== 'refused') accepted++;
        expect(hot).toEqual(schema);
      }),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it('agree on each field with each odd value', () => {
    for (const name of fields.filter((field) => field !== '__proto__')) {
      for (const sample of fc.sample(value, { seed: 11, numRuns: 150 })) {
        const item = { ...good, [name]: sample };
        const { hot, schema } = verdicts(item);
        expect({ item, verdict: hot }).toEqual({ item, verdict: schema });
      }
    }
  });

  it('agree on the kind of a queue, stored above the evidence of the terms', () => {
    const plain = { ...good, terms: { queueMs: 3 } };
    const evidences = [undefined, ...QUEUE_KINDS].map((queueKind) => {
      const item = { ...plain, queueKind };
      const { hot, schema } = verdicts(item);
      expect(hot).toEqual(schema);
      return (hot as { request: { evidence: number } }).request.evidence;
    });
    expect(new Set(evidences).size).toBe(1 + QUEUE_KINDS.length);
    expect(verdicts({ ...plain, queueKind: 'delayed' })).toEqual({ hot: 'refused', schema: 'refused' });
  });

  it('agree on whatever is no event at all', () => {
    fc.assert(
      fc.property(fc.anything(), (item) => {
        const { hot, schema } = verdicts(item);
        return (hot === 'refused') === (schema === 'refused');
      }),
    );
  });

  it('take what parsed JSON can hold beyond literals', () => {
    for (const text of [
      '{"id":"a","startedAt":0,"endpoint":"e","e2eMs":1e999}',
      '{"id":"a","startedAt":1e999,"endpoint":"e","e2eMs":1}',
    ])
      expect(verdicts(JSON.parse(text))).toEqual({ hot: 'refused', schema: 'refused' });
  });
});
