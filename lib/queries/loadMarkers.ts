import type { Viewer } from '../core/viewer';
import { readMarkers } from '../db/markers';
import type { Scope } from './scope';

export type MarkerLine = { id: string; at: string; label: string; version: string | null; kind: string };

const MOST = 1_000;

/** What happened in this range? Oldest first, at most 1,000. */
export async function loadMarkers({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: Pick<Scope, 'fromUs' | 'toUs'>;
}): Promise<{ markers: MarkerLine[] }> {
  const { fromUs, toUs } = input;
  const markers = await readMarkers(viewer.projectId, { fromUs, toUs, limit: MOST });
  return { markers: markers.map((marker) => ({ ...marker, at: marker.at.toISOString() })) };
}
