import type { Value } from '../estimate';

/** What is too small to be worth a change, however sure: 5 ms, or 2 % of what it is compared with. */
export const smallestWorthMs = (ofMs: number): number => Math.max(5, 0.02 * ofMs);

/**
 * minuend − subtrahend of two percentiles of different requests, with the interval that their own intervals give: each
 * bound recovers the variance on its side (MOVER; Zou and Donner, Statistics in Medicine 27, 2008; Newcombe's interval is
 * its case for shares). A bound that a side does not have is missing here too.
 */
export function valueDifference(minuend: Value, subtrahend: Value): Value {
  if (minuend.ms === null || subtrahend.ms === null) {
    const missing = [minuend, subtrahend].filter((value) => value.ms === null);
    const reason = missing.some((value) => value.ms === null && value.reason === 'no_data') ? 'no_data' : 'too_few';
    return { ms: null, lowMs: null, highMs: null, reason };
  }
  const ms = minuend.ms - subtrahend.ms;
  const apart = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.abs(a - b));
  const reach = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.hypot(a, b));
  const down = reach(apart(minuend.ms, minuend.lowMs), apart(subtrahend.highMs, subtrahend.ms));
  const up = reach(apart(minuend.highMs, minuend.ms), apart(subtrahend.ms, subtrahend.lowMs));
  return { ms, lowMs: down === null ? null : ms - down, highMs: up === null ? null : ms + up };
}

/** 1 or −1 when the difference lies beyond chance on that side and is worth mentioning beside `ofMs`; else 0. */
export function claimedSign(difference: Value, ofMs: number): -1 | 0 | 1 {
  if (difference.ms === null || Math.abs(difference.ms) < smallestWorthMs(ofMs)) return 0;
  if (difference.lowMs !== null && difference.lowMs > 0) return 1;
  return difference.highMs !== null && difference.highMs < 0 ? -1 : 0;
}
