import { parseKey } from '../core/cell';
import { type EndpointClass, guessEndpointClass } from '../core/endpointClass';
import { allProjectIds, loadEndpointClasses, saveGuessedClasses } from '../db/endpointClasses';
import { cellOf, readCells } from '../db/readCells';

const DAYS = 7;
/** Below this many ok requests a guess would be chance; reads then guess from what they see. */
const SMALLEST_N = 100;

/** Guesses the class of every endpoint of a project from the 7 days before `nowMs`; classes that were set stay. */
export async function guessClassesOf(projectId: string, nowMs: number): Promise<void> {
  const { periods } = await readCells({
    ...{ projectId, grouping: 'endpoint', families: ['duration'], finest: 'day' },
    fromUs: (nowMs - DAYS * 86_400_000) * 1_000,
    toUs: nowMs * 1_000,
  });
  const counts = new Map<string, { ok: number; withTtft: number }>();
  for (const [text, set] of periods.get(0) ?? []) {
    const key = parseKey(text);
    if (key.outcome !== 'ok' || key.vantage === 'probe' || typeof key.endpoint !== 'string') continue;
    const [n, , withTtft] = cellOf(set, 'duration').counts;
    const count = counts.get(key.endpoint) ?? { ok: 0, withTtft: 0 };
    counts.set(key.endpoint, { ok: count.ok + n!, withTtft: count.withTtft + withTtft! });
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
