import { type SampledRequest, waitUs } from '../core/request';
import { type SelectionStudy, studySelection } from '../core/selection';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { withSnapshot } from '../db/snapshot';
import type { Scope } from './scope';
import { readWholeRows } from './wholeRows';

/** A box of the heatmap: times (µs since the epoch) and waits (ms), both half-open. */
export type Box = { fromUs: number; toUs: number; lowMs: number; highMs: number };

export type Selection = SelectionStudy & {
  /** What the selection is held against: other waits in the same time, and as long before and after (RFC 3339). */
  restFrom: string;
  restTo: string;
  /** False when the requests at hand stand for others that were not kept. */
  complete: boolean;
  slowest: { id: string; at: string; endpoint: string; clientRegion: string | null; waitMs: number }[];
};

const SLOWEST_SHOWN = 10;

/** What is different about the requests in a box of the heatmap? From whole requests of the sample tier. */
export async function loadSelection(question: { viewer: Viewer; input: Scope & { box: Box } }): Promise<Selection> {
  const { viewer, input } = question;
  const { box } = input;
  const lengthUs = box.toUs - box.fromUs;
  const around: Scope = {
    ...input,
    fromUs: Math.max(input.fromUs, box.fromUs - lengthUs),
    toUs: Math.min(input.toUs, box.toUs + lengthUs),
  };
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const { rows, basisOfEndpoint, complete } = await readWholeRows(snapshot, { scope: around, stored });
    const basis = (row: SampledRequest) => basisOfEndpoint(row.dims.endpoint);
    const waitMs = (row: SampledRequest) => (waitUs(row, basis(row)) ?? 0) / 1000;
    const isSelected = (row: SampledRequest) =>
      row.startedAtUs >= box.fromUs &&
      row.startedAtUs < box.toUs &&
      waitMs(row) >= box.lowMs &&
      waitMs(row) < box.highMs;
    const slowest = rows.filter(isSelected).sort((a, b) => waitMs(b) - waitMs(a));
    return {
      ...studySelection({ rows, isSelected, basis }),
      restFrom: new Date(around.fromUs / 1000).toISOString(),
      restTo: new Date(around.toUs / 1000).toISOString(),
      complete,
      slowest: slowest.slice(0, SLOWEST_SHOWN).map((row) => ({
        ...{ id: row.id, at: new Date(row.startedAtUs / 1000).toISOString(), waitMs: waitMs(row) },
        ...{ endpoint: row.dims.endpoint, clientRegion: row.dims.clientRegion },
      })),
    };
  });
}
