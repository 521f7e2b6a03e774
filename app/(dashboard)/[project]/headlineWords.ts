import { formatMs } from '@/lib/charts/formatMs';
import { QUANTILE_LABELS } from '@/lib/core/estimate';
import { LEVER_LABELS, type Lever } from '@/lib/core/terms';
import type { Breakdown, FloorInfo } from '@/lib/queries/loadBreakdown';

/** The sentence in pieces, so that the gain can be marked. `gain` is null when none is claimed. */
export type HeadlineWords = { before: string; gain: string | null; after: string };

type Told = Pick<Breakdown, 'largestAvoidable' | 'reason' | 'floors' | 'tailLever'>;

/** What to fix first, in words. `place` says what it is about ("chat from eu-west-2"). */
export function headlineWords(told: Told, place: string): HeadlineWords {
  const { reason, largestAvoidable } = told;
  if (reason === 'no_data') return plain('No requests in this range.');
  if (reason === 'several_endpoints')
    return plain('Several endpoints are in view, and they are never pooled: choose one to see what to fix first.');
  if (reason === 'nothing_worth_fixing')
    return plain(`Nothing worth fixing first in ${place}: no lever gains more than 5 ms and 2 % at p99.`);
  if (reason === 'instrument_first') {
    const lead = `Instrument first: more than half of the slow requests’ wait in ${place} is not attributed to anything.`;
    return largestAvoidable ? named(told, place, `${lead} Of what is known, `) : plain(lead);
  }
  if (reason === 'too_few') {
    const lead = `Too few requests in ${place} to speak of p99.`;
    return largestAvoidable ? named(told, place, `${lead} `) : plain(lead);
  }
  return largestAvoidable ? named(told, place, '') : plain(`Nothing is named for ${place}.`);
}

/** "Floor of Cold starts: 0 ms (default: …)." */
export function floorWords(lever: Lever, floor: FloorInfo): string {
  const size = floor.ms === undefined ? 'differs from request to request' : formatMs(floor.ms);
  const kind = floor.kind === 'none' ? 'none set' : `${size}, ${floor.kind}`;
  return `Floor of ${LEVER_LABELS[lever]}: ${kind}${floor.source === '' ? '' : ` (${floor.source})`}.`;
}

/** The second line: a lever that only shows beyond p99. Null without one. */
export function tailWords(told: Pick<Breakdown, 'tailLever'>): string | null {
  const { tailLever } = told;
  return tailLever && `At p99.9, ${LEVER_LABELS[tailLever.lever]} alone would save ${formatMs(tailLever.gainMs)}.`;
}

function plain(before: string): HeadlineWords {
  return { before, gain: null, after: '' };
}

function named(told: Told, place: string, lead: string): HeadlineWords {
  const largest = told.largestAvoidable;
  if (largest === null) return plain(lead);
  const levers = listed(largest.levers.map((lever) => LEVER_LABELS[lever]));
  const at = `at ${QUANTILE_LABELS[largest.quantile]}${interval(largest)}`;
  const gain = formatMs(largest.gainMs);
  const scenario = largest.scenario === null ? '' : `: ${largest.scenario}`;
  if (told.reason === 'masked')
    return { before: `${lead}${levers} together cost ${place} `, gain, after: ` ${at}; each alone changes little.` };
  if (told.reason === 'level')
    return {
      before: `${lead}${levers} in ${place} gain about the same: `,
      gain,
      after: ` ${at}${scenario}. The data cannot tell which is larger.`,
    };
  const before = `${lead}${lead === '' ? 'Fix first in' : 'the largest avoidable term in'} ${place}: ${levers}${scenario}, which saves `;
  return { before, gain, after: ` ${at}.` };
}

function interval(largest: { gainMs: number; lowMs: number | null; highMs: number | null }): string {
  if (largest.lowMs === null) return '';
  if (largest.highMs === null) return ` (at least ${formatMs(largest.lowMs)})`;
  // Where the percentile lies at the edge of a step, what is found is the least of what it may be
  const isLeast = largest.gainMs - largest.lowMs <= 0.05 * (largest.highMs - largest.lowMs);
  if (isLeast && formatMs(largest.lowMs) !== formatMs(largest.highMs))
    return ` or more (95 % reach to ${formatMs(largest.highMs)})`;
  return ` (95 % between ${formatMs(largest.lowMs)} and ${formatMs(largest.highMs)})`;
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
