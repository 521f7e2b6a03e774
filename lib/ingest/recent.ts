// Ids stored in the last minutes, in memory, so that a re-composed batch (other events, some of them known) stores
// nothing twice. Two generations: the older one is thrown away whole. Entered only after COMMIT: an id that was claimed
// before its write failed would be lost for ever.

const GENERATION_MS = 10 * 60_000;
const GENERATION_SIZE = 400_000;

export class RecentIds {
  private current = new Set<string>();
  private previous = new Set<string>();
  private startedMs: number;

  constructor(nowMs: number) {
    this.startedMs = nowMs;
  }

  has(projectId: string, id: string): boolean {
    const name = `${projectId}/${id}`;
    return this.current.has(name) || this.previous.has(name);
  }

  add(projectId: string, id: string, nowMs: number): void {
    if (this.current.size >= GENERATION_SIZE || nowMs - this.startedMs >= GENERATION_MS) {
      this.previous = this.current;
      this.current = new Set();
      this.startedMs = nowMs;
    }
    this.current.add(`${projectId}/${id}`);
  }
}
