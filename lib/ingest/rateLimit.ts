// A bucket of events a key: filled at a steady rate, emptied by what is sent. A post is refused while the bucket is in
// debt, not when its own events would not fit: so any post gets through some time, and the average holds.

/** How many seconds of the rate a key may send at once. */
const BURST_S = 10;
const MOST_KEYS = 10_000;

export class RateLimiter {
  private readonly buckets = new Map<string, { left: number; atMs: number }>();

  constructor(private readonly perSecond: number) {}

  /** How long (s, rounded up) the key has to wait; 0 when it may post now. */
  waitS(key: string, nowMs: number): number {
    const bucket = this.filled(key, nowMs);
    return bucket.left > 0 ? 0 : Math.ceil((1 - bucket.left) / this.perSecond);
  }

  /** Takes what was sent; at least one, also for an empty post. */
  take(key: string, events: number, nowMs: number): void {
    this.filled(key, nowMs).left -= Math.max(1, events);
  }

  private filled(key: string, nowMs: number): { left: number; atMs: number } {
    const most = this.perSecond * BURST_S;
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      if (this.buckets.size >= MOST_KEYS) this.buckets.clear();
      bucket = { left: most, atMs: nowMs };
      this.buckets.set(key, bucket);
    }
    bucket.left = Math.min(most, bucket.left + (Math.max(0, nowMs - bucket.atMs) / 1_000) * this.perSecond);
    bucket.atMs = nowMs;
    return bucket;
  }
}
