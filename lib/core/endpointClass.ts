// What the wait of an endpoint is, and its default objective. Applied at read: nothing stored depends on it.

import type { Basis } from './terms';

export const ENDPOINT_CLASSES = ['interactive', 'stream', 'voice', 'batch'] as const;
export type EndpointClass = (typeof ENDPOINT_CLASSES)[number];

/** Which duration the user of such an endpoint waits for. */
export const BASIS_OF: Record<EndpointClass, Basis> = {
  interactive: 'e2e',
  stream: 'ttft',
  voice: 'ttft',
  batch: 'e2e',
};

/** Default p99 objectives: 99 % of requests ok and within the threshold (µs). Editable presets, not promises. */
export const DEFAULT_OBJECTIVES: Record<EndpointClass, { thresholdUs: number; objective: number }> = {
  interactive: { thresholdUs: 800_000, objective: 0.99 },
  stream: { thresholdUs: 1_000_000, objective: 0.99 },
  voice: { thresholdUs: 600_000, objective: 0.99 },
  batch: { thresholdUs: 30_000_000, objective: 0.99 },
};

/**
 * The class by the share of ok requests that carry a time to first output: ≥ 60 % stream, ≤ 40 % not, between: as before.
 */
export function guessEndpointClass(
  counts: { ok: number; withTtft: number },
  before: EndpointClass | null,
): EndpointClass {
  if (counts.ok === 0) return before ?? 'interactive';
  const share = counts.withTtft / counts.ok;
  if (share >= 0.6) return before === 'voice' ? 'voice' : 'stream';
  if (share <= 0.4) return before === 'batch' ? 'batch' : 'interactive';
  return before ?? (share >= 0.5 ? 'stream' : 'interactive');
}
