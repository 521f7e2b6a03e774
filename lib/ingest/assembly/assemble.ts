// The assembly: chunks of spans → open traces → closed traces with their requests. One worker at a time assembles a
// project, by lease; what it holds in memory is only where spans lie, and is rebuilt from span_pending by the next one.

import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Lease, releaseLease, takeLease } from '../../db/assemblyStore';
import { type OpenHints, openHints } from '../../db/hintStore';
import { deletePendingSpans, pendingSpans, projectsToAssemble, readTraceIndexes } from '../../db/spanStore';
import { recentTermRules } from '../../db/termRules';
import { log } from '../../platform/log';
import { Bodies } from './bodies';
import { type AssemblyServices, closeTraces } from './closeTraces';
import { type DueTrace, OpenTraces } from './openTraces';
import { tracesToReopen } from './reopen';

const CHUNKS_A_STEP = 128;
const SPANS_A_CLOSING = 4_000;
const REOPENED_A_CLOSING = 200;
const IDLE_PAUSE_MS = 500;
const BUSY_PAUSE_MS = 5;
const LONGEST_BACK_OFF_MS = 10_000;

type Project = { lease: Lease; open: OpenTraces; knownUses: Set<string> };

export type Assembled = { chunks: number; traces: number; open: number };

/** Everything that one worker knows of the projects it assembles. */
export class Assembly {
  private readonly holder = uuidv7();
  private readonly bodies = new Bodies();
  private readonly projects = new Map<string, Project>();
  private readonly services: AssemblyServices;

  constructor(services: AssemblyServices) {
    this.services = services;
  }

  /**
   * One round over all projects: takes in what came, closes what is due. `aheadMs` moves the clock by which traces are
   * due, which otherwise is the database's. Throws the first failure after every project had its turn.
   */
  async step({ aheadMs = 0 }: { aheadMs?: number } = {}): Promise<Assembled> {
    const total: Assembled = { chunks: 0, traces: 0, open: 0 };
    const failures: unknown[] = [];
    for (const projectId of await projectsToAssemble()) {
      try {
        const assembled = await this.stepProject(projectId, aheadMs);
        total.chunks += assembled.chunks;
        total.traces += assembled.traces;
        total.open += assembled.open;
      } catch (error) {
        this.projects.delete(projectId); // what was done is in the database; the rest is read again
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return total;
  }

  /** Lets other workers go on at once. */
  async release(): Promise<void> {
    for (const { lease } of this.projects.values()) await releaseLease(lease);
    this.projects.clear();
  }

  private async stepProject(projectId: string, aheadMs: number): Promise<Assembled> {
    const lease = await takeLease(projectId, this.holder);
    const held = this.projects.get(projectId);
    if (lease === null) {
      this.projects.delete(projectId);
      return { chunks: 0, traces: 0, open: 0 };
    }
    const isHeld = held?.lease.epoch === lease.epoch;
    const project: Project = isHeld ? { ...held, lease } : { lease, open: new OpenTraces(), knownUses: new Set() };
    const { open } = project;
    this.projects.set(projectId, project);
    const { chunks, clockMs } = await this.takeIn(projectId, open);
    const due = open.due({ nowMs: clockMs + aheadMs, limit: SPANS_A_CLOSING });
    const hints = await openHints(projectId);
    const isOurs = await this.close(project, due, hints);
    if (!isOurs) this.projects.delete(projectId);
    return { chunks, traces: due.length, open: open.size };
  }

  /** Closes what is due, then what was closed before and is concerned by open hints; false when the lease is lost. */
  private async close(
    { lease, open, knownUses }: Project,
    due: readonly DueTrace[],
    hints: OpenHints | null,
  ): Promise<boolean> {
    if (due.length === 0 && hints === null) return true;
    const { rules } = await recentTermRules(lease.projectId);
    const context = { lease, rules, bodies: this.bodies, services: this.services, knownUses };
    if (due.length > 0 && !(await closeTraces(open, due, context))) return false;
    if (hints === null) return true;
    const again = await tracesToReopen(lease.projectId, hints, open);
    for (let at = 0; at < again.length; at += REOPENED_A_CLOSING) {
      const some = again.slice(at, at + REOPENED_A_CLOSING);
      if (!(await closeTraces(open, some, { ...context, hints: { ...hints, isLast: false } }))) return false;
    }
    return closeTraces(open, [], { ...context, hints: { ...hints, isLast: true } });
  }

  /**
   * Adds the chunks that came to the open traces. The clock of what is due stands at the last chunk read while there are
   * more: a trace must not be closed for being quiet while its next spans wait to be read.
   */
  private async takeIn(projectId: string, open: OpenTraces): Promise<{ chunks: number; clockMs: number }> {
    const { nowMs, chunks } = await pendingSpans(projectId);
    const unread = chunks.filter((chunk) => !open.has(chunk.chunkId));
    const taken = unread.slice(0, CHUNKS_A_STEP);
    const indexes = await readTraceIndexes(projectId, taken);
    for (const chunk of taken) open.add(chunk, indexes.get(chunk.chunkId) ?? { entries: [], links: [] });
    const gone = taken.filter((chunk) => !indexes.has(chunk.chunkId)); // retention took them while no worker ran
    await deletePendingSpans(projectId, gone);
    const last = taken.at(-1);
    return { chunks: taken.length, clockMs: taken.length < unread.length && last ? last.receivedAtMs : nowMs };
  }
}

/** Assembles until `signal` aborts; a database that is away is waited for. */
export async function runAssembly({ signal, ...services }: AssemblyServices & { signal: AbortSignal }): Promise<void> {
  const assembly = new Assembly(services);
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs = IDLE_PAUSE_MS;
    try {
      const { chunks, traces } = await assembly.step();
      if (chunks >= CHUNKS_A_STEP || traces > 0) pauseMs = BUSY_PAUSE_MS;
      failures = 0;
    } catch (error) {
      failures++;
      pauseMs = Math.min(LONGEST_BACK_OFF_MS, IDLE_PAUSE_MS * 2 ** Math.min(failures, 6));
      log().error({ err: error, pauseMs }, 'assembly failed, trying again');
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  await assembly.release().catch(() => {}); // the lease runs out by itself
}
