import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimeUs, validate } from '../../../lib/ingest/validate';

const nowUs = Date.parse('2026-12-01T12:00:00Z') * 1_000;
const clock = { nowUs, skewUs: 0 };
const good = { id: 'a', startedAt: '2026-12-01T11:59:00Z', endpoint: 'chat', e2eMs: 100 };
const check = (fields: object) => validate({ ...good, ...fields }, clock);

describe('validate', () => {
  it('takes an event with the least it needs, and nulls for what is missing', () => {
    expect(validate(good, clock)).toMatchObject({ ok: true, late: false, unknownFields: 0 });
    expect(check({ ttftMs: null, terms: null, calls: null, attributes: null })).toMatchObject({ ok: true });
  });

  it.each([
    ['no id', { id: undefined }, 'id', /string/],
    ['an empty id', { id: '' }, 'id', /empty/],
    ['a long id', { id: 'x'.repeat(65) }, 'id', /64/],
    ['a NUL', { endpoint: 'a\0b' }, 'endpoint', /NUL/],
    ['half a surrogate pair', { clientRegion: 'a\ud800' }, 'clientRegion', /surrogate/],
    ['a sentinel', { e2eMs: -1 }, 'e2eMs', /leave the field out/],
    ['a negative term', { terms: { queueMs: -1 } }, 'terms.queueMs', /negative/],
    ['NaN', { e2eMs: Number.NaN }, 'e2eMs', /number/],
    ['Infinity', { e2eMs: Number.POSITIVE_INFINITY }, 'e2eMs', /number/],
    ['1e308', { ttftMs: 1e308 }, 'ttftMs', /milliseconds/],
    ['an unknown outcome', { outcome: 'fine' }, 'outcome', /ok/],
    ['a fractional weight', { weight: 1.5 }, 'weight', /whole/],
    ['weight 0', { weight: 0 }, 'weight', /1/],
    ['65 calls', { calls: Array(65).fill({ stage: 'llm', durationMs: 1 }) }, 'calls', /64/],
    ['a bad call', { calls: [{ stage: 'llm' }] }, 'calls.0.durationMs', /number/],
    ['a long attribute', { attributes: { a: 'x'.repeat(257) } }, 'attributes.a', /256/],
    ['a time without zone', { startedAt: '2026-12-01T11:59:00' }, 'startedAt', /RFC 3339/],
    ['seconds', { startedAt: nowUs / 1e6 }, 'startedAt', /35 days.*ms/],
    ['ten years ago', { startedAt: '2016-12-01T12:00:00Z' }, 'startedAt', /35 days/],
    ['six minutes ahead', { startedAt: '2026-12-01T12:06:00Z' }, 'startedAt', /future/],
  ])('refuses %s, naming the path and the fix', (_, fields, path, message) => {
    const refused = check(fields);
    expect(refused).toMatchObject({ ok: false, path });
    expect((refused as { message: string }).message).toMatch(message);
  });

  it('refuses depth and prototype names', () => {
    let deep: object = {};
    for (let i = 0; i < 8; i++) deep = { deep };
    expect(check({ deep })).toMatchObject({ ok: false, reason: 'too_deep' });
    expect(validate(JSON.parse('{"__proto__": {"id": "a"}}'), clock)).toMatchObject({ ok: false, path: '__proto__' });
    expect(
      validate(JSON.parse(JSON.stringify(good).replace('}', ',"attributes":{"__proto__":"x"}}')), clock),
    ).toMatchObject({
      ok: false,
    });
  });

  it('refuses 21 attributes and takes 20', () => {
    const attributes = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 'v']));
    expect(check({ attributes: attributes(20) })).toMatchObject({ ok: true });
    expect(check({ attributes: attributes(21) })).toMatchObject({ ok: false, path: 'attributes' });
  });

  it('counts unknown fields and late events', () => {
    const result = check({ foo: 1, terms: { bar: 2 }, calls: [{ stage: 'llm', durationMs: 1, baz: 3 }] });
    expect(result).toMatchObject({ ok: true, unknownFields: 3 });
    expect(check({ startedAt: '2026-11-30T11:59:00Z' })).toMatchObject({ ok: true, late: true });
  });

  it('moves times by the skew, and keeps what was sent', () => {
    const skewed = validate({ ...good, startedAt: '2026-12-01T13:00:00Z' }, { nowUs, skewUs: -3_700_000_000 });
    expect(skewed).toMatchObject({ ok: true, startedAtUs: nowUs - 100_000_000, sentAtUs: nowUs + 3_600_000_000 });
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (item) => typeof validate(item, clock).ok === 'boolean'));
    const field = fc.constantFrom(...Object.keys(good), 'terms', 'calls', 'attributes', 'weight', 'ttftMs');
    fc.assert(
      fc.property(field, fc.jsonValue(), (name, value) => typeof check({ [name]: value }).ok === 'boolean'),
      { numRuns: 2_000 },
    );
  });

  it('reads times to the microsecond', () => {
    expect(parseTimeUs('2026-12-01T12:00:00.123456Z')).toBe(nowUs + 123_456);
    expect(parseTimeUs('2026-12-01T14:00:00+02:00')).toBe(nowUs);
    expect(parseTimeUs(nowUs / 1_000)).toBe(nowUs);
    expect(parseTimeUs('yesterday')).toBeNull();
  });
});
