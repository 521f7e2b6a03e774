// What latency is looked at by: tokens and requests in flight, in bins that double.

/** The bin of a count (≥ 0): 0 alone, then 1, 2–3, 4–7, … as their exponent plus one. */
export function binOf(count: number): number {
  return count < 1 ? 0 : Math.floor(Math.log2(count)) + 1;
}

/** First and last whole count of a bin. */
export function binEdges(bin: number): { from: number; to: number } {
  return bin <= 0 ? { from: 0, to: 0 } : { from: 2 ** (bin - 1), to: 2 ** bin - 1 };
}
