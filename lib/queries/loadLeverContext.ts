import type { FloorOverride, LeverContext } from '../core/levers';
import type { Viewer } from '../core/viewer';
import { versionAt } from '../db/leverVersions';

/** The floors and deployable regions now in force. They act at read time, so the next read sees a change. */
export async function loadLeverContext({ viewer }: { viewer: Viewer }): Promise<LeverContext> {
  const floors = await versionAt('floors', viewer.projectId, new Date());
  const document = (floors?.document ?? {}) as { overrides?: FloorOverride[]; deployableRegions?: string[] };
  return {
    overrides: document.overrides ?? [],
    deployableRegions: document.deployableRegions ?? null,
    version: String(floors?.version ?? 'default'),
  };
}
