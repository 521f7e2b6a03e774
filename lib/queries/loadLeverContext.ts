import type { Baseline, FloorOverride, LeverContext } from '../core/levers';
import type { Viewer } from '../core/viewer';
import { versionAt } from '../db/leverVersions';
import { loadProbeTrips } from '../db/probeTrips';
import { loadQueueFloors } from '../db/queueFloors';

/**
 * The floors, baselines and deployable regions in force at an instant (µs since the epoch), now when none is given, with
 * the queue floors and probes' round trips as pinned last.
 * They act at read time, so the next read sees a change. Throws nothing of its own.
 */
export async function loadLeverContext({
  viewer,
  atUs,
}: {
  viewer: Viewer;
  atUs?: number;
}): Promise<LeverContext & { floorsVersion: number | null; baselinesVersion: number | null }> {
  const at = atUs === undefined ? new Date() : new Date(atUs / 1000);
  const [floors, baselines, queueP10, probedMs] = await Promise.all([
    versionAt('floors', viewer.projectId, at),
    versionAt('baselines', viewer.projectId, at),
    loadQueueFloors(viewer.projectId),
    loadProbeTrips(viewer.projectId),
  ]);
  const document = (floors?.document ?? {}) as { overrides?: FloorOverride[]; deployableRegions?: string[] };
  const version = String(floors?.version ?? 'default');
  return {
    overrides: document.overrides ?? [],
    baselines: ((baselines?.document ?? {}) as { baselines?: Baseline[] }).baselines ?? [],
    deployableRegions: document.deployableRegions ?? null,
    queueP10,
    probedMs,
    floorsVersion: floors?.version ?? null,
    baselinesVersion: baselines?.version ?? null,
    version: baselines === null ? version : `${version}, baselines ${baselines.version}`,
  };
}
