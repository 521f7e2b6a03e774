import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { LoadOrder, LoadReport } from './load';

/** The load generator as a process of its own. */
export class Generator {
  private readonly child: ChildProcess = fork(path.resolve('bench/support/load.ts'), [], {
    execArgv: ['--import', 'tsx'],
  });
  private runs = 0;

  /** Runs one load to its end. Ids never repeat over the runs of one generator. */
  async load(order: Omit<LoadOrder, 'run' | 'seed'>): Promise<LoadReport> {
    const run = ++this.runs;
    this.child.send({ ...order, run, seed: 1_000 + run });
    const [report] = (await once(this.child, 'message')) as [LoadReport];
    return report;
  }

  get pid(): number {
    return this.child.pid!;
  }

  stop(): void {
    this.child.kill();
  }
}
