import { formatMs, formatRatio } from '@/lib/charts/formatMs';
import type { Gap } from '@/lib/queries/loadBreakdown';

/** What the gap is like and where to look first, in a sentence. */
export function GapNote({ gap }: { gap: Gap }) {
  return (
    <p className="mt-2" data-testid="gap-note" data-large={gap.large} data-stable={gap.stable}>
      {gapWords(gap)}
    </p>
  );
}

function gapWords(gap: Gap): string {
  if (gap.medianMs === null) return 'Gap unknown: no request tells how long its model took.';
  const size = `The gap between wait and model is ${formatMs(gap.medianMs)} in the middle (${formatRatio(gap.share)} of the wait)`;
  if (!gap.large) return `${size}: not large.`;
  const spread = gap.spread === null ? '' : ` (quartiles ${formatRatio(gap.spread)} of it apart)`;
  if (gap.stable === null) return `${size}: large; too few requests to say whether it is stable.`;
  return gap.stable
    ? `${size}: large and stable${spread}. Look at placement and hops first: everybody pays them.`
    : `${size}: large and unstable${spread}. Look at queues, cold starts and retries first: they come and go.`;
}
