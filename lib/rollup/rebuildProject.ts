import { Calendar } from '../core/calendar';
import { fold } from '../core/fold';
import { deletePending, inTransaction, lockFold, projectZone, readChunks } from '../db/pendingChunks';
import { compactEverything, deleteParts, insertParts } from '../db/rollupStore';

/** Replaces all roll-ups and samples of a project by what its raw requests say, in one transaction under its lock. */
export async function rebuildProject(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    await deleteParts(client, projectId);
    // Pending first: a chunk that commits after this line stays pending and is folded later, never twice.
    await deletePending(client, projectId, null);
    const calendar = new Calendar(await projectZone(client, projectId));
    const parts = fold(await readChunks(client, projectId, null), { calendar });
    await insertParts(client, projectId, { parts, level: 0 });
    await compactEverything(client, projectId);
  });
}

/** Merges all parts of a project into their canonical form. */
export async function compactAll(projectId: string): Promise<void> {
  await inTransaction(async (client) => {
    await lockFold(client, projectId, { wait: true });
    await compactEverything(client, projectId);
  });
}
