import { COUNTS } from '../core/cell';
import { type EndpointClass, guessEndpointClass } from '../core/endpointClass';
import { allProjectIds, loadEndpointClasses, saveGuessedClasses } from '../db/endpointClasses';
import { cellOf, withSnapshot } from '../db/snapshot';

const DAYS = 7;
/** Below this many ok requests a guess would be chance; reads then guess from what they see. */
const SMALLEST_N = 100;

/** Guesses the class of every endpoint of a project from the 7 days before `nowMs`; classes that were set stay. */
export async function guessClassesOf(projectId: string, nowMs: number): Promise<void> {
  const { periods } = await withSnapshot(projectId, (snapshot) =>
    snapshot.read({
      ...{ grouping: 'endpoint', families: ['counts'], finest: 'day' },
      fromUs: (nowMs - DAYS * 86_400_000) * 1_000,
      toUs: nowMs * 1_000,
    }),
  );
  const counts = new Map<string, { ok: number; withTtft: number }>();
  for (const { key, set } of periods.get(0) ?? []) {
    if (key.outcome !== 'ok' || key.vantage === 'probe' || typeof key.endpoint !== 'string') continue;
    const cell = cellOf(set, 'counts').counts;
    const count = counts.get(key.endpoint) ?? { ok: 0, withTtft: 0 };
    count.ok += cell[COUNTS.indexOf('n')]!;
    count.withTtft += cell[COUNTS.indexOf('withTtft')]!;
    counts.set(key.endpoint, count);
  }
  const before = await loadEndpointClasses(projectId);
  const guesses = new Map<string, EndpointClass>();
  for (const [endpoint, count] of counts) {
    if (count.ok >= SMALLEST_N) guesses.set(endpoint, guessEndpointClass(count, before.get(endpoint) ?? null));
  }
  if (guesses.size > 0) await saveGuessedClasses(projectId, guesses);
}

/** The same for every project. */
export async function guessClasses(nowMs: number): Promise<void> {
  for (const projectId of await allProjectIds()) await guessClassesOf(projectId, nowMs);
}
