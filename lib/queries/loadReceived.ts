import type { Viewer } from '../core/viewer';
import { newestRequestMs } from '../db/endpointClasses';

/** Whether, and until when, anything was received (RFC 3339); null: nothing ever was. */
export async function loadReceived({ viewer }: { viewer: Viewer }): Promise<{ newestEventAt: string | null }> {
  const newest = await newestRequestMs(viewer.projectId);
  return { newestEventAt: newest === null ? null : new Date(newest).toISOString() };
}
