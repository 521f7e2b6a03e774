// Time to the first output: four names, three units, and values that cannot be true.
//
// Absent stays null. A sentinel (−1), zero, a value longer than its span, and one under a millisecond (a client that
// stamped its own bookkeeping: 0.001 s where 0.256 s was true) are unbelievable. One as late as the span's end is no
// stream: the whole answer was "the first output".

import { FIRST_OUTPUT_DURATIONS, FIRST_OUTPUT_EVENTS, FIRST_OUTPUT_TIMES } from '../data/conventions';
import { numberOf, textOf } from './read';
import type { Span } from './span';

export type FirstOutput =
  | { is: 'told'; afterUs: number }
  | { is: 'absent' }
  | { is: 'unbelievable' }
  /** The first output came with the last one. */
  | { is: 'noStream' };

const SMALLEST_US = 1_500;
/** What start times rounded to the millisecond can hide, and the last digits of a duration told in seconds. */
const sameUs = (lengthUs: number) => 1_000 + lengthUs / 10_000;

/** What a span tells of its first output. `afterUs`: µs after its start. */
export function firstOutputOf(span: Span): FirstOutput {
  let answer: FirstOutput = { is: 'absent' };
  for (const afterUs of told(span)) {
    const judged = judge(afterUs, span.endUs - span.startUs);
    // The first believable one, else the first reason why there is none
    if (judged.is === 'told') return judged;
    if (answer.is === 'absent') answer = judged;
  }
  return answer;
}

/** Judges a first output at `afterUs` in something that took `lengthUs`. */
export function judge(afterUs: number, lengthUs: number): FirstOutput {
  const late = afterUs - lengthUs;
  if (!(afterUs >= SMALLEST_US) || late > sameUs(lengthUs)) return { is: 'unbelievable' };
  return late >= -sameUs(lengthUs) ? { is: 'noStream' } : { is: 'told', afterUs: Math.round(afterUs) };
}

function* told(span: Span): Generator<number> {
  for (const [name, toUs] of FIRST_OUTPUT_DURATIONS) {
    const value = numberOf(span.attributes, name);
    if (value !== null) yield value * toUs;
  }
  for (const name of FIRST_OUTPUT_TIMES) {
    const at = Date.parse((textOf(span.attributes, name) ?? '').replaceAll('"', ''));
    if (!Number.isNaN(at)) yield at * 1_000 - span.startUs;
  }
  const event = span.events.find(({ name }) => FIRST_OUTPUT_EVENTS.has(name));
  if (event !== undefined) yield event.atUs - span.startUs;
}
