// Whole requests of a scope, for gains and for anatomy where roll-ups do not have the filters.

import type { CellKey } from '../core/cell';
import type { SampledRequest } from '../core/request';
import { HOUR_SAMPLE_DAYS } from '../core/sample';
import type { Basis, Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import type { CellQuestion, SampleAnswer, Snapshot } from '../db/snapshot';
import { accepts } from './population';
import type { Scope } from './scope';

const DAY_US = 86_400e6;
/** Up to here hours are read, while their samples are kept; beyond, whole days. */
const HOURS_UP_TO_US = 4 * DAY_US;
/** From here on the thin sample of each day is enough for one cell as well. */
const THIN_FROM_US = 62 * DAY_US;
/** What one analysis is made of: more changes no digit that its interval would not cover. */
const MOST_ROWS = 12_288;
const MOST_ROWS_OF_MANY = 2_048;

/** Filters that are no part of a sample cell's key. */
const ROW_FILTERS = ['serviceRegion', 'provider', 'model', 'version'] as const;

/** True when a scope filters by something that only whole rows tell. */
export function filtersRows(scope: Scope): boolean {
  return ROW_FILTERS.some((field) => scope[field].length > 0);
}

function filterRows(rows: SampledRequest[], scope: Scope): SampledRequest[] {
  const used = ROW_FILTERS.filter((field) => scope[field].length > 0);
  if (used.length === 0) return rows;
  return rows.filter((row) => used.every((field) => scope[field].includes(row.dims[field] ?? '')));
}

export type Sampled = { rows: SampledRequest[]; complete: boolean };

/**
 * Whole requests of a scope by group, weights calibrated to all that they stand for. Ranges beyond four days, and older
 * ones, snap outward to local days: `effectiveFromUs` and `effectiveToUs` say so.
 */
export async function readSampled<G>(
  snapshot: Snapshot,
  question: {
    scope: Scope;
    vantage: Vantage | null;
    basis: Basis;
    /** Many cells at once: the thin sample does earlier. */
    many: boolean;
    leading?: CellQuestion['leading'];
    groupOf: (key: CellKey) => G;
  },
): Promise<{ sampledOf: (group: G) => Sampled; effectiveFromUs: number; effectiveToUs: number }> {
  const { scope, vantage, many, leading } = question;
  const lengthUs = scope.toUs - scope.fromUs;
  const hoursFromUs = snapshot.asOf.getTime() * 1_000 - HOUR_SAMPLE_DAYS * DAY_US;
  const byHour = lengthUs <= HOURS_UP_TO_US && scope.fromUs >= hoursFromUs;
  const { samples, ...effective } = await snapshot.readSamples({
    range: { fromUs: scope.fromUs, toUs: scope.toUs, finest: byHour ? 'hour' : 'day' },
    basis: question.basis,
    thin: !byHour && (many || lengthUs >= THIN_FROM_US),
    ...(leading ? { leading } : {}),
    keep: (key) => key.vantage === vantage && !key.cached && accepts(scope, key),
    groupOf: question.groupOf,
    mostRows: many ? MOST_ROWS_OF_MANY : MOST_ROWS,
  });
  const none: SampleAnswer = { basis: question.basis, rows: [], complete: true };
  const sampledOf = (group: G): Sampled => {
    const { rows, complete } = samples.get(group) ?? none;
    return { rows: filterRows(rows, scope), complete };
  };
  return { sampledOf, ...effective };
}

/** What seeds the bootstrap of a cell: what it holds and which floors act, never the URL. */
export function seedOf(
  { viewer, scope }: { viewer: Viewer; scope: Scope },
  cell: readonly (string | number | null)[],
): string {
  const { clientRegion, serviceRegion, provider, model, environment, version, outcome } = scope;
  const filters = [clientRegion, serviceRegion, provider, model, environment, version, outcome];
  return JSON.stringify([viewer.projectId, cell, filters]);
}
