import type { Calendar } from '@/lib/core/calendar';
import {
  addToCell,
  type Cell,
  coarsen,
  emptyCell,
  encodeCell,
  FAMILIES,
  formatKey,
  fullKey,
  GROUPINGS,
  isEmpty,
  isStored,
  TIERS,
} from '@/lib/core/cell';
import type { TimedRequest } from '@/lib/core/request';

/** The fold by its definition: every request added to every cell it belongs to. Place and key → hex of the stored form. */
export function plainFold(requests: readonly TimedRequest[], calendar: Calendar): Record<string, string> {
  const cells = new Map<string, Cell>();
  for (const request of requests) {
    for (const grouping of GROUPINGS) {
      const key = formatKey(coarsen(fullKey(request), grouping));
      for (const tier of TIERS) {
        for (const family of FAMILIES) {
          if (!isStored(grouping, tier, family)) continue;
          const name = `${grouping} ${tier} ${family} ${calendar.startS(tier, request.startedAtUs)} ${key}`;
          const cell: Cell = cells.get(name) ?? emptyCell(family, tier);
          cells.set(name, cell);
          addToCell(cell, request);
        }
      }
    }
  }
  return Object.fromEntries(
    [...cells].flatMap(([name, cell]) =>
      isEmpty(cell) ? [] : [[name, Buffer.from(encodeCell(cell)).toString('hex')]],
    ),
  );
}
