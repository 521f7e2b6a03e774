import type { SampledRequest } from '../request';

type Generated = Pick<SampledRequest, 'outcome' | 'e2eUs' | 'ttftUs' | 'decodeUs' | 'outputTokens'>;

/**
 * Time per output token (µs): (last − first) ÷ (tokens − 1). Null below two tokens, when the request did not end well, and
 * when its first output came with its last: then no stream was seen.
 */
export function tpotUs({ outcome, e2eUs, ttftUs, outputTokens }: Generated): number | null {
  if (outcome !== 'ok' || ttftUs === null || ttftUs >= e2eUs || outputTokens === null || outputTokens < 2) return null;
  return (e2eUs - ttftUs) / (outputTokens - 1);
}

/** Output tokens ÷ seconds of the whole request: 200 tokens in 0.8 s are 250. Null when not told or not ended well. */
export function tokensPerSecond({ outcome, e2eUs, outputTokens }: Generated): number | null {
  if (outcome !== 'ok' || outputTokens === null || outputTokens < 1 || e2eUs <= 0) return null;
  return outputTokens / (e2eUs / 1e6);
}
