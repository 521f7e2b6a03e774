import { inTransaction, lockFold } from '../db/pendingChunks';
import { projectsWantingZone, takeWantedZone } from '../db/zoneChange';
import { rebuildWithin } from './rebuildProject';

/**
 * Gives projects the zone that was asked for. Hours and days of the roll-ups are those of the zone, so both change in
 * one transaction: no read sees the one without the other. Periods older than the raw requests keep their old bounds.
 */
export async function changeZones(): Promise<void> {
  for (const projectId of await projectsWantingZone())
    await inTransaction(async (client) => {
      await lockFold(client, projectId, { wait: true });
      if (await takeWantedZone(client, projectId)) await rebuildWithin(client, projectId);
    });
}
