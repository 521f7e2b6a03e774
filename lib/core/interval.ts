// Exact, distribution-free confidence intervals of a percentile from the binomial distribution of its rank.
// For B ~ Bin(n, q): l = largest k with P(B ≤ k − 1) ≤ α/2, u = smallest k with P(B ≥ k) ≤ α/2; [x(l), x(u)].

/** ln Γ(x), x > 0: Lanczos approximation (g = 7, 9 terms), relative error below 1e-13. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
function logGamma(x: number): number {
  const y = x - 1;
  const t = y + 7.5;
  const sum = LANCZOS.reduce((acc, c, i) => (i === 0 ? c : acc + c / (y + i)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

function pmf(n: number, q: number, k: number): number {
  if (k < 0 || k > n) return 0;
  const logChoose = logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);
  return Math.exp(logChoose + k * Math.log(q) + (n - k) * Math.log1p(-q));
}

/** Sum of pmf from k in one direction until what is left no longer matters. */
function tail(start: { n: number; q: number; k: number }, step: 1 | -1): number {
  const { n, q } = start;
  let k = start.k;
  let p = pmf(n, q, k);
  let sum = p;
  while (p > sum * 1e-12) {
    p *= step === -1 ? (k / (n - k + 1)) * ((1 - q) / q) : ((n - k) / (k + 1)) * (q / (1 - q));
    k += step;
    if (k < 0 || k > n) break;
    sum += p;
  }
  return sum;
}

/** Largest k ≥ 1 with P(B ≤ k − 1) ≤ alpha, or null when there is none. */
export function lowerRank(n: number, q: number, alpha: number): number | null {
  const guess = Math.floor(n * q - 5 * Math.sqrt(n * q * (1 - q)) - 5);
  let k = Math.max(0, guess);
  let below = k > 0 ? tail({ n, q, k: k - 1 }, -1) : 0;
  let p = pmf(n, q, k);
  while (k < n) {
    below += p;
    if (below > alpha) break;
    p *= ((n - k) / (k + 1)) * (q / (1 - q));
    k += 1;
  }
  return k >= 1 ? k : null;
}

/** Smallest k ≤ n with P(B ≥ k) ≤ alpha, or null when even the largest observation is no upper bound. */
export function upperRank(n: number, q: number, alpha: number): number | null {
  let k = Math.min(n, Math.ceil(n * q + 5 * Math.sqrt(n * q * (1 - q)) + 5));
  let above = k < n ? tail({ n, q, k: k + 1 }, 1) : 0;
  let p = pmf(n, q, k);
  if (above + p > alpha) return null;
  while (k > 0) {
    above += p;
    if (above > alpha) break;
    p *= (k / (n - k + 1)) * ((1 - q) / q);
    k -= 1;
  }
  return k + 1;
}

/** Two-sided 95 % ranks [l, u] of the q-quantile of n observations; u is null without an upper bound. */
export function intervalRanks(n: number, q: number): { low: number | null; high: number | null } {
  return { low: lowerRank(n, q, 0.025), high: upperRank(n, q, 0.025) };
}

/** The fewest requests for a 95 % bound: one-sided (a lower bound exists) and two-sided (an upper one too). */
export function smallestN(q: number): { oneSided: number; twoSided: number } {
  return {
    oneSided: Math.ceil(Math.log(0.05) / Math.log(q) - 1e-9),
    twoSided: Math.ceil(Math.log(0.025) / Math.log(q) - 1e-9),
  };
}
