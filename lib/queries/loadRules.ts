import type { TermRule } from '../core/trace/attributed';
import type { Viewer } from '../core/viewer';
import { loadTermRules } from '../db/termRules';

/** The term rules in force; version null when none were ever set. */
export async function loadRules({ viewer }: { viewer: Viewer }): Promise<{
  rules: readonly TermRule[];
  version: number | null;
}> {
  const { rules, version } = await loadTermRules(viewer.projectId);
  return { rules, version };
}
