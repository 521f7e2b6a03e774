// When users leave: of those still waiting after so long, how many leave before they have anything.
//
// Every request waits until it is answered, times out, or its user leaves. A bin of wait knows who was still waiting at
// its start, how long all of them waited within it, and who left there: leaving ÷ time waited is the hazard (per second),
// which bins of different width can be compared by. Answers end a wait without saying how long that user would have stayed
// (censoring), so the share that left among all would understate it where answers are quick.

import { bucketValueUs, effectiveN, type Histogram } from '../histogram';
import { countInterval, type Share, wilson } from './proportion';

/** Where bins begin (s). */
const EDGES_S = [0, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60];

export type WaitBin = {
  fromMs: number;
  /** Null: no end. */
  toMs: number | null;
  /** Requests (weights counted) still waiting at the start of the bin, and what became of them within it. */
  waiting: number;
  left: number;
  ended: number;
  /** Cancelled share of the waits that ended in the bin. */
  leftShare: Share;
  /** Users leaving a second, of those waiting; with its 95 % interval. Null when nobody waited. */
  perSecond: { value: number; low: number; high: number } | null;
};

export type Abandonment = {
  /** Requests (weights counted) that waited, and how many of them were cancelled before the first output. */
  waited: number;
  left: number;
  leftShare: Share;
  bins: WaitBin[];
};

type Ended = { us: number; weight: number };

function endedOf(histogram: Histogram): Ended[] {
  const some = [...histogram.buckets].map(([index, weight]) => ({ us: bucketValueUs(index, histogram.scale), weight }));
  return histogram.zero > 0 ? [...some, { us: 0, weight: histogram.zero }] : some;
}

/**
 * `left`: how long those waited who left before anything came. `all`: every wait, theirs included. Null when nobody
 * waited. Durations are as exact as the histograms (0.55 %).
 */
export function abandonment(left: Histogram, all: Histogram): Abandonment | null {
  if (all.weight <= 0) return null;
  const scale = effectiveN(all) / all.weight;
  const [gone, every] = [endedOf(left), endedOf(all)];
  const bins = EDGES_S.map((fromS, i) => binOf({ fromUs: fromS * 1e6, toUs: (EDGES_S[i + 1] ?? Infinity) * 1e6 }));
  function binOf({ fromUs, toUs }: { fromUs: number; toUs: number }): WaitBin {
    const within = ({ us }: Ended) => us >= fromUs && us < toUs;
    const weightOf = (some: Ended[]) => some.reduce((sum, { weight }) => sum + weight, 0);
    const leftHere = weightOf(gone.filter(within));
    const endedHere = weightOf(every.filter(within));
    const waiting = every.filter(({ us }) => us >= fromUs);
    const seconds = waiting.reduce((sum, { us, weight }) => sum + ((Math.min(us, toUs) - fromUs) / 1e6) * weight, 0);
    const count = countInterval(leftHere * scale);
    return {
      ...{ fromMs: fromUs / 1000, toMs: Number.isFinite(toUs) ? toUs / 1000 : null },
      ...{ waiting: weightOf(waiting), left: leftHere, ended: endedHere },
      leftShare: wilson(endedHere > 0 ? Math.min(1, leftHere / endedHere) : 0, endedHere * scale),
      perSecond:
        seconds > 0
          ? { value: leftHere / seconds, low: count.low / scale / seconds, high: count.high / scale / seconds }
          : null,
    };
  }
  return {
    ...{ waited: all.weight, left: left.weight },
    leftShare: wilson(Math.min(1, left.weight / all.weight), effectiveN(all)),
    bins: bins.filter(({ waiting }) => waiting > 0),
  };
}
