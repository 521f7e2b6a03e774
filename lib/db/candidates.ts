import type { TimedRequest } from '../core/request';
import type { RawPlace } from './rawRows';

/** What requests are ordered by: value descending, then start, then id. */
export type Key = { value: number; startedAtUs: number; id: string };
/** A request seen in its chunk, not unpacked yet. */
export type Candidate = { value: number; startedAtUs: number; place: RawPlace };
export type Found = { key: Key; request: TimedRequest };

/** Negative when a comes before b, by what candidates know. */
const compare = (a: Omit<Key, 'id'>, b: Omit<Key, 'id'>) => b.value - a.value || b.startedAtUs - a.startedAtUs;

/** Negative when a comes before b; ids descend (`forward`: ascend). */
export function compareKeys(a: Key, b: Key, forward: boolean): number {
  const ids = a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
  return compare(a, b) || (forward ? -ids : ids);
}

/** The first `k` candidates after a cursor, and those level with the last of them or with the cursor: ids decide later. */
export class Top {
  private kept: Candidate[] = [];
  private readonly level: Candidate[] = [];
  private last: Candidate | null = null;

  constructor(
    private readonly k: number,
    private readonly after: Key | null,
  ) {}

  add(candidate: Candidate): void {
    const order = this.after === null ? 1 : compare(candidate, this.after);
    if (order < 0) return;
    if (order === 0) this.level.push(candidate);
    else if (this.last === null || compare(candidate, this.last) <= 0) {
      this.kept.push(candidate);
      if (this.kept.length >= 4 * this.k + 64) this.cut();
    }
  }

  private cut(): void {
    this.kept.sort(compare);
    const last = this.kept[this.k - 1];
    if (last === undefined) return;
    this.last = last;
    let end = this.k;
    while (end < this.kept.length && compare(this.kept[end]!, last) === 0) end++;
    this.kept.length = end;
  }

  /** Nothing below this value (µs) can be among the first `k` any more; −∞ while there are fewer. */
  threshold(): number {
    this.cut();
    return this.last?.value ?? Number.NEGATIVE_INFINITY;
  }

  candidates(): Candidate[] {
    this.cut();
    return [...this.level, ...this.kept];
  }
}
