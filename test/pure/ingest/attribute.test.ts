import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakdown, evidenceOf, queueKindOf, unattributedUs } from '../../../lib/core/request';
import { MEASURED_TERMS, TERMS } from '../../../lib/core/terms';
import { attribute } from '../../../lib/ingest/attribute';
import { eventSchema, type IngestEvent } from '../../../lib/ingest/contract';

const at = { startedAtUs: 1_764_547_200_000_000, defaultVantage: 'service' } as const;
const event = (fields: Partial<IngestEvent>): IngestEvent =>
  eventSchema.parse({ id: 'a', startedAt: '2026-12-01T00:00:00Z', endpoint: 'chat', e2eMs: 100, ...fields });
const stored = (fields: Partial<IngestEvent>) => attribute(event(fields), at);
const term = (fields: Partial<IngestEvent>, name: (typeof MEASURED_TERMS)[number]) =>
  stored(fields).request.terms[MEASURED_TERMS.indexOf(name)];

const ms = fc.oneof(fc.constant(null), fc.constant(undefined), fc.double({ min: 0, max: 3_000, noNaN: true }));
const anyCall = fc.record({
  stage: fc.constantFrom('llm', 'stt', 'tool', 'own'),
  startOffsetMs: ms,
  durationMs: fc.double({ min: 0, max: 3_000, noNaN: true }),
  ttftMs: ms,
  hopMs: ms,
  providerQueueMs: ms,
  modelMs: ms,
});
const anyEvent = fc.record({
  id: fc.constant('a'),
  startedAt: fc.constant('2026-12-01T00:00:00Z'),
  endpoint: fc.constant('chat'),
  e2eMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
  ttftMs: ms,
  decodeMs: ms,
  serviceMs: ms,
  outcome: fc.constantFrom('ok', 'timeout', 'cancelled', 'error'),
  terms: fc.record({
    connectionMs: ms,
    networkMs: ms,
    backboneMs: ms,
    queueMs: ms,
    routingMs: ms,
    coldStartMs: ms,
    retryMs: ms,
    modelHopMs: ms,
    modelMs: ms,
    applicationMs: ms,
  }),
  calls: fc.array(anyCall, { maxLength: 5 }),
});

describe('attribute', () => {
  it('adds up exactly and is never negative, whatever was sent', () => {
    fc.assert(
      fc.property(anyEvent, (input) => {
        const { request } = attribute(eventSchema.parse(input), at);
        const parts = breakdown(request, 'e2e');
        let sum = 0;
        for (const name of TERMS) {
          const us = parts[name];
          if (us !== null) {
            expect(Number.isInteger(us)).toBe(true);
            expect(us).toBeGreaterThanOrEqual(0);
          }
          if (name !== 'unattributed' && name !== 'decode')
            expect(evidenceOf(request, name) === 'missing').toBe(us === null);
          sum += us ?? 0;
        }
        expect(sum).toBe(request.e2eUs);
        if (request.ttftUs !== null) expect(request.decodeUs).toBe(request.e2eUs - request.ttftUs);
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps missing missing', () => {
    expect(stored({}).request.terms).toEqual(Array(10).fill(null));
    expect(term({ terms: { queueMs: 0 } }, 'queue')).toBe(0);
  });

  it('keeps the kind of a queue beside its time, and only then', () => {
    const { request } = stored({ queueKind: 'scheduled', terms: { queueMs: 30, modelMs: 60 } });
    expect(queueKindOf(request)).toBe('scheduled');
    expect([evidenceOf(request, 'queue'), evidenceOf(request, 'application')]).toEqual(['measured', 'missing']);
    expect(queueKindOf(stored({ terms: { queueMs: 30 } }).request)).toBeNull();
    expect(stored({ queueKind: 'broker', terms: { modelMs: 60 } })).toEqual(stored({ terms: { modelMs: 60 } }));
    // Terms that cannot fit are dropped, and the kind with them
    expect(stored({ queueKind: 'capacity', terms: { queueMs: 300 } }).request.evidence).toBe(0);
  });

  it('takes a ttft that is the whole duration as "no stream observed"', () => {
    for (const ttftMs of [100, 101]) {
      const { request, notes } = stored({ ttftMs });
      expect(request.ttftUs).toBeNull();
      expect(notes).toEqual(['noStreamObserved']);
    }
    expect(stored({ ttftMs: 99.999 }).request.decodeUs).toBe(1);
  });

  it('decode is exactly e2e − ttft, whatever was sent', () => {
    expect(stored({ ttftMs: 30, decodeMs: 5 }).request.decodeUs).toBe(70_000);
    expect(stored({ decodeMs: 60 }).request.decodeUs).toBe(60_000);
  });

  it('derives network from what the service saw', () => {
    const { request } = stored({ serviceMs: 60, terms: { connectionMs: 10 } });
    expect(breakdown(request, 'e2e').network).toBe(30_000);
    expect(evidenceOf(request, 'network')).toBe('derived');
    expect(term({ serviceMs: 60, terms: { networkMs: 7 } }, 'network')).toBe(7_000);
    const impossible = stored({ serviceMs: 150 });
    expect(impossible.request.terms[1]).toBeNull();
    expect(impossible.notes).toContain('inconsistent');
  });

  it('cuts a small excess: derived, then application, then the largest', () => {
    const derived = stored({ serviceMs: 60, terms: { modelMs: 62, applicationMs: 1 } }); // network 40 derived: 103
    expect(derived.notes).toEqual(['inconsistent']);
    expect(derived.request.terms[1]).toBe(37_000);
    expect(unattributedUs(derived.request)).toBe(0);
    expect(term({ terms: { modelMs: 90, applicationMs: 12 } }, 'application')).toBe(10_000);
    expect(term({ terms: { modelMs: 90, queueMs: 12 } }, 'model')).toBe(88_000);
  });

  it('drops terms that exceed their budget by more than 2 ms + 2 %', () => {
    const { request, notes } = stored({ terms: { modelMs: 90, queueMs: 14.1 } });
    expect(request.terms).toEqual(Array(10).fill(null));
    expect(request.evidence).toBe(0);
    expect(request.e2eUs).toBe(100_000);
    expect(notes).toEqual(['inconsistent']);
  });

  it('cuts generation out of the model when there was a first output', () => {
    const { request, notes } = stored({ ttftMs: 40, terms: { queueMs: 10, modelMs: 85 } });
    expect(breakdown(request, 'ttft').model).toBe(30_000);
    expect(evidenceOf(request, 'model')).toBe('derived');
    expect(notes).toEqual([]);
  });

  it('sums the model calls on the critical path only', () => {
    const calls = [
      { stage: 'stt', startOffsetMs: 0, durationMs: 20, modelMs: 15, hopMs: 5 },
      { stage: 'embed', startOffsetMs: 0, durationMs: 10, modelMs: 8, hopMs: 2 },
      { stage: 'llm', startOffsetMs: 20, durationMs: 60, modelMs: 50, hopMs: 10 },
    ];
    const { request } = stored({ calls });
    expect(breakdown(request, 'e2e')).toMatchObject({ model: 65_000, modelHop: 15_000, unattributed: 20_000 });
    expect(evidenceOf(request, 'model')).toBe('measured');
    const sequential = stored({ calls: calls.map(({ startOffsetMs: _, ...call }) => call) });
    expect(breakdown(sequential.request, 'e2e')).toMatchObject({ model: 73_000, modelHop: 17_000 });
    expect(evidenceOf(sequential.request, 'model')).toBe('derived');
  });

  it('lets no call beside the path count: touching and zero-length ones do', () => {
    const calls = [
      { stage: 'llm', startOffsetMs: 0, durationMs: 0, modelMs: 0, hopMs: 0 },
      { stage: 'llm', startOffsetMs: 0, durationMs: 30, modelMs: 30, hopMs: 0 },
      { stage: 'llm', startOffsetMs: 30, durationMs: 30, modelMs: 30, hopMs: 0 },
    ];
    expect(term({ calls }, 'model')).toBe(60_000);
  });
});
