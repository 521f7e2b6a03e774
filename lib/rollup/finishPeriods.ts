import { Calendar, type Period } from '../core/calendar';
import { TIERS } from '../core/cell';
import { inTransaction, lockFold, projectZone } from '../db/pendingChunks';
import { pool } from '../db/pool';
import { mergePlace, unfinishedPlaces } from '../db/rollupStore';

const HOUR_S = 3_600;
const SLOT_S = 300;

/** The periods, of every tier, that touch these UTC hours (s since the epoch) and are over at `nowS`. */
function periodsOver(calendar: Calendar, hours: readonly number[], nowS: number): Period[] {
  const periods = new Map<string, Period>();
  for (const hourS of hours) {
    for (let slotS = hourS; slotS < hourS + HOUR_S; slotS += SLOT_S) {
      for (const tier of TIERS) {
        const startS = calendar.startS(tier, slotS * 1e6);
        if (calendar.endS(tier, startS) <= nowS) periods.set(`${tier} ${startS}`, { tier, startS });
      }
    }
  }
  return [...periods.values()];
}

/**
 * Merges the roll-ups of the periods of sealed hours into one deflated part a place, each in a short transaction of its
 * own. What is not reached because the process ends stays as it is: larger, not wrong.
 */
export async function finishPeriods(
  projectId: string,
  { hours, nowMs }: { hours: readonly number[]; nowMs: number },
): Promise<void> {
  if (hours.length === 0) return;
  const calendar = new Calendar(await projectZone(pool(), projectId));
  const places = await unfinishedPlaces(projectId, periodsOver(calendar, hours, nowMs / 1_000));
  for (const place of places) {
    await inTransaction(async (client) => {
      await lockFold(client, projectId, { wait: true });
      await mergePlace(client, projectId, place);
    });
  }
}
