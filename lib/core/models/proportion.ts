// Shares and their differences with intervals that hold near 0 and 1, where success rates are.
//
// One share: Wilson's score interval (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927). A difference: Newcombe's hybrid score
// interval, made of the two Wilson intervals (R. G. Newcombe, Statistics in Medicine 17, 1998, 873–890, method 10).

const Z95 = 1.959964;

/** A share (0–1) of n requests; n is the effective number when requests are weighted. Nulls without requests. */
export type Share = { share: number; low: number; high: number; n: number } | { share: null; n: 0 };
/** A difference of shares (−1 to 1) with its 95 % interval. */
export type ShareDifference = { difference: number; low: number; high: number };

/** `share` of `n` requests, two-sided 95 %. n need not be whole. */
export function wilson(share: number, n: number): Share {
  if (!(n > 0)) return { share: null, n: 0 };
  const z2 = Z95 * Z95;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  // the exact ends of none and all, which rounding would miss
  const low = share === 0 ? 0 : Math.max(0, middle - half);
  const high = share === 1 ? 1 : Math.min(1, middle + half);
  return { share, low: Math.min(low, share), high: Math.max(high, share), n };
}

/** minuend − subtrahend; null when either has no requests. */
export function newcombe(minuend: Share, subtrahend: Share): ShareDifference | null {
  if (minuend.share === null || subtrahend.share === null) return null;
  const difference = minuend.share - subtrahend.share;
  return {
    difference,
    low: difference - Math.hypot(minuend.share - minuend.low, subtrahend.high - subtrahend.share),
    high: difference + Math.hypot(minuend.high - minuend.share, subtrahend.share - subtrahend.low),
  };
}

/** 95 % interval of the expected count behind an observed one: Byar's approximation (Breslow and Day, 1987). */
export function countInterval(count: number): { low: number; high: number } {
  const more = count + 1;
  const low = count <= 0 ? 0 : count * Math.max(0, 1 - 1 / (9 * count) - Z95 / (3 * Math.sqrt(count))) ** 3;
  return { low, high: more * (1 - 1 / (9 * more) + Z95 / (3 * Math.sqrt(more))) ** 3 };
}
