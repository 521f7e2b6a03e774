// Fold: requests → cells of every grouping, tier and family. One pure function for the worker, for reads of what is not
// folded yet, and for rebuilds, so that all three give the same numbers.
//
// Requests are folded once, at their full key and 5-minute slot; coarser cells are merges of those, in key order.

import type { Calendar } from './calendar';
import {
  addToCell,
  type Cell,
  coarsen,
  emptyCell,
  FAMILIES,
  type Family,
  formatKey,
  fullKey,
  GROUPINGS,
  type Grouping,
  isEmpty,
  isStored,
  mergeCell,
  parseKey,
  TIERS,
  type Tier,
} from './cell';
import type { TimedRequest } from './request';

export type FoldedPart = { grouping: Grouping; tier: Tier; family: Family; periodS: number; cells: Map<string, Cell> };

type FoldOptions = {
  calendar: Calendar;
  groupings?: readonly Grouping[];
  families?: readonly Family[];
  /** Limits what is produced, as a read asks for some tiers and periods only. */
  wants?: (tier: Tier, periodS: number) => boolean;
};

/** Thin samples are taken from the full ones. */
const SOURCE: Partial<Record<Family, Family>> = { thinE2e: 'sampleE2e', thinTtft: 'sampleTtft' };
const sourceOf = (family: Family): Family => SOURCE[family] ?? family;

type Base = { slotS: number; key: string; cells: Map<Family, Cell> };

function foldBase(requests: Iterable<TimedRequest>, calendar: Calendar, families: readonly Family[]): Base[] {
  const bases = new Map<string, Base>();
  const sources = [...new Set(families.map(sourceOf))];
  for (const request of requests) {
    const key = formatKey(fullKey(request));
    const slotS = calendar.startS('5min', request.startedAtUs);
    const id = `${slotS} ${key}`;
    let base = bases.get(id);
    if (!base) {
      base = { slotS, key, cells: new Map(sources.map((f) => [f, emptyCell(f)])) };
      bases.set(id, base);
    }
    for (const cell of base.cells.values()) addToCell(cell, request);
  }
  return [...bases.values()];
}

/** Requests → parts, each the cells of one (grouping, tier, family, period). Empty cells are left out. */
export function fold(requests: Iterable<TimedRequest>, options: FoldOptions): FoldedPart[] {
  const { calendar, groupings = GROUPINGS, families = FAMILIES, wants = () => true } = options;
  const parts = new Map<string, FoldedPart>();
  for (const base of foldBase(requests, calendar, families)) {
    const full = parseKey(base.key);
    for (const grouping of groupings) {
      const key = formatKey(coarsen(full, grouping));
      for (const tier of TIERS) {
        const periodS = calendar.startS(tier, base.slotS * 1e6);
        if (!wants(tier, periodS)) continue;
        for (const family of families) {
          const cell = base.cells.get(sourceOf(family))!;
          if (isEmpty(cell) || !isStored(grouping, tier, family)) continue;
          const id = `${grouping} ${tier} ${family} ${periodS}`;
          let part = parts.get(id);
          if (!part) {
            part = { grouping, tier, family, periodS, cells: new Map() };
            parts.set(id, part);
          }
          let into = part.cells.get(key);
          if (!into) {
            into = emptyCell(family, tier);
            part.cells.set(key, into);
          }
          mergeCell(into, cell);
        }
      }
    }
  }
  return [...parts.values()];
}
