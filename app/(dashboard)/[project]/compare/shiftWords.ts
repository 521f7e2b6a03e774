import { formatMs } from '@/lib/charts/formatMs';
import type { EndpointShift } from '@/lib/queries/loadComparison';

const KEYS = ['p50', 'p95', 'p99'] as const;

/** "p95 of /v1/chat became 120 ms slower (1,534 ms → 1,654 ms); p50 and p99: no change beyond chance." */
export function shiftWords(shift: EndpointShift): string {
  const { endpoint } = shift;
  if (shift.nBefore === 0 || shift.nAfter === 0)
    return `${endpoint} has requests only ${shift.nBefore === 0 ? 'after' : 'before'}: nothing to compare.`;
  const claimed = KEYS.filter((key) => shift[key].isClaimed);
  if (claimed.length === 0) return `No change of ${endpoint} beyond chance, at p50, p95 or p99.`;
  const parts = claimed.map((key) => {
    const { differenceMs, before, after } = shift[key];
    const size = formatMs(Math.abs(differenceMs ?? 0));
    return `${key} ${size} ${(differenceMs ?? 0) > 0 ? 'slower' : 'faster'} (${formatMs(before.ms)} → ${formatMs(after.ms)})`;
  });
  const others = KEYS.filter((key) => !claimed.includes(key));
  const rest = others.length === 0 ? '' : ` ${others.join(' and ')}: no change beyond chance.`;
  return `${endpoint} changed: ${parts.join(', ')}.${rest}`;
}
