// Repeatable chance for the demonstration data: the same seed gives the same requests on every machine.

import { hash53 } from '../core/hash';

export interface Draws {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Uniform in [low, high). */
  between(low: number, high: number): number;
  /** True in this share (0–1) of the calls. */
  chance(share: number): boolean;
  /** Exponential with this mean. */
  exponential(mean: number): number;
  /** One of the values, each as likely; throws on an empty list. */
  pick<T>(values: readonly T[]): T;
}

/** A stream of draws that `seed` alone decides (mulberry32 on a hash of the seed). */
export function createDraws(seed: string): Draws {
  let state = (hash53(seed) % 2 ** 32) | 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    uniform,
    between: (low, high) => low + uniform() * (high - low),
    chance: (share) => uniform() < share,
    exponential: (mean) => -mean * Math.log(1 - uniform()),
    pick: (values) => {
      const value = values[Math.floor(uniform() * values.length)];
      if (value === undefined) throw new Error('nothing to pick from: the measured set is empty');
      return value;
    },
  };
}
