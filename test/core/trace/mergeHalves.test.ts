import { expect, it } from 'vitest';
import { evidenceOf, packEvidence, queueKindOf, type TimedRequest, withQueueKind } from '@/lib/core/request';
import { MEASURED_TERMS, type MeasuredTerm, type QueueKind } from '@/lib/core/terms';
import { mergeHalves } from '@/lib/core/trace/mergeHalves';
import { aRequest } from '../../support/requests';

const half = (e2eMs: number, termsMs: Partial<Record<MeasuredTerm, number>>, kind: QueueKind | null): TimedRequest =>
  aRequest({
    e2eUs: e2eMs * 1000,
    terms: MEASURED_TERMS.map((term) => (termsMs[term] === undefined ? null : termsMs[term] * 1000)),
    evidence: withQueueKind(
      packEvidence(MEASURED_TERMS.map((term) => (termsMs[term] === undefined ? 'missing' : 'measured'))),
      kind,
    ),
  });

it('one request of two halves keeps the kind of the queue that the service saw', () => {
  const client = half(3200, {}, null);
  const merged = mergeHalves(client, half(3100, { queue: 3000, model: 80 }, 'scheduled'));
  expect(queueKindOf(merged)).toBe('scheduled');
  expect([evidenceOf(merged, 'queue'), evidenceOf(merged, 'network')]).toEqual(['measured', 'derived']);
  expect(queueKindOf(mergeHalves(client, half(3100, { queue: 3000 }, null)))).toBeNull();
});

it('the client may tell the kind of a queue that the service only timed; without a time there is no kind', () => {
  const client = half(3200, { queue: 2900 }, 'scheduled');
  expect(queueKindOf(mergeHalves(client, half(3100, { queue: 3000 }, null)))).toBe('scheduled');
  expect(queueKindOf(mergeHalves(client, half(3100, { queue: 3000 }, 'broker')))).toBe('broker');
  expect(queueKindOf(mergeHalves(client, half(3100, { model: 80 }, null)))).toBeNull();
});
