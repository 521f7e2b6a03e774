import type { Measured } from './measured';
import type { DemoEvent } from './requests';

export const FASTEST_ENDPOINT = 'thefastest.ai (real)';

/**
 * The real requests of thefastest.ai as events: time to first token, whole time and client region, no terms. Their 18
 * days are pressed into [fromMs, toMs) in their order; `day` makes the ids those of one filling.
 */
export function fastestRequests(
  measured: Pick<Measured, 'fastest'>,
  window: { fromMs: number; toMs: number; day: string },
): DemoEvent[] {
  const first = measured.fastest[0]?.runTimeMs ?? 0;
  const last = measured.fastest.at(-1)?.runTimeMs ?? first;
  const scale = (window.toMs - window.fromMs - 1) / Math.max(1, last - first);
  return measured.fastest.map((row, index) => {
    const [name, provider] = [row.model.slice(row.model.indexOf('/') + 1), row.model.slice(0, row.model.indexOf('/'))];
    return {
      id: `fastest-${window.day}-${index}`,
      startedAt: Math.floor(window.fromMs + (row.runTimeMs - first) * scale),
      endpoint: FASTEST_ENDPOINT,
      vantage: 'client',
      environment: 'production',
      clientRegion: row.clientRegion,
      ...(provider === '' ? {} : { provider }),
      model: name,
      e2eMs: row.totalMs,
      ttftMs: row.ttftMs,
      ...(row.outputTokens === null ? {} : { outputTokens: row.outputTokens }),
    };
  });
}
