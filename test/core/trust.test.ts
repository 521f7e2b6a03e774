import { expect, test } from 'vitest';
import { judgeTrust, type StoreState, sumCounts } from '@/lib/core/trust';

const SETTLED: StoreState = {
  pending: { chunks: 0, requests: 0, oldestReceivedAt: null },
  foldLagMs: 0,
  quarantine: { chunks: 0, requests: 0 },
  unsealed: { chunks: 0, requests: 0 },
};
const stateOf = (findings: ReturnType<typeof judgeTrust>, id: string) => findings.find((f) => f.id === id)?.state;

test('counters add up by kind, rejections by reason, and unknown kinds are left out', () => {
  const counts = sumCounts([
    { kind: 'accepted', count: 10 },
    { kind: 'accepted', count: 5 },
    { kind: 'rejected:future', count: 1 },
    { kind: 'rejected:invalid', count: 4 },
    { kind: 'rejected:future', count: 1 },
    { kind: 'duplicate', count: 3 },
    { kind: 'somethingNew', count: 9 },
  ]);
  expect(counts).toMatchObject({ accepted: 15, duplicates: 3, rejected: 6, late: 0 });
  expect(counts.rejectedByReason).toEqual([
    { reason: 'invalid', n: 4 },
    { reason: 'future', n: 2 },
  ]);
});

test('nothing wrong: every finding is good, and says so', () => {
  const findings = judgeTrust(sumCounts([{ kind: 'accepted', count: 1000 }]), SETTLED);
  expect(findings.map((f) => f.state)).toEqual(findings.map(() => 'good'));
  expect(findings.map((f) => f.id)).toEqual(['rejected', 'quarantine', 'fold', 'unsealed']);
});

test('what is missing from the numbers is bad and comes first; what is in them is a note', () => {
  const counts = sumCounts([
    { kind: 'accepted', count: 900 },
    { kind: 'duplicate', count: 7 },
    { kind: 'rejected:too_old', count: 100 },
  ]);
  const findings = judgeTrust(counts, { ...SETTLED, quarantine: { chunks: 1, requests: 1 } });
  expect(findings.slice(0, 2).map((f) => f.id)).toEqual(['rejected', 'quarantine']);
  expect(findings[0]?.words).toMatch(/100 events were rejected .* 100 too_old \(started more than 35 days/);
  expect(findings[1]?.words).toMatch(/^1 request in 1 chunk .* is missing/);
  expect(stateOf(findings, 'duplicates')).toBe('note');
  expect(stateOf(findings, 'fold')).toBe('good');
});

test('a fold that lags is a note only when it is long: reads include what is pending', () => {
  const lagging = (foldLagMs: number) => ({
    ...SETTLED,
    foldLagMs,
    pending: { chunks: 2, requests: 40, oldestReceivedAt: '2026-11-20T10:00:00.000Z' },
  });
  const counts = sumCounts([]);
  expect(stateOf(judgeTrust(counts, lagging(2_000)), 'fold')).toBe('good');
  expect(stateOf(judgeTrust(counts, lagging(300_000)), 'fold')).toBe('note');
});

test('one rejected among many is a note, not an alarm', () => {
  const counts = sumCounts([
    { kind: 'accepted', count: 100_000 },
    { kind: 'rejected:invalid', count: 1 },
  ]);
  expect(stateOf(judgeTrust(counts, SETTLED), 'rejected')).toBe('note');
});

test('traces without a root, and of workers whose context was lost, are notes that say what to do', () => {
  const counts = sumCounts([
    { kind: 'accepted', count: 10 },
    { kind: 'trace:no_root', count: 1 },
    { kind: 'trace:lost_context', count: 8 },
  ]);
  const findings = judgeTrust(counts, SETTLED);
  expect(stateOf(findings, 'rootlessTraces')).toBe('note');
  expect(stateOf(findings, 'lostContextTraces')).toBe('note');
  expect(findings.find((f) => f.id === 'lostContextTraces')?.words).toMatch(/^8 traces of workers .*bullmq/);
});
