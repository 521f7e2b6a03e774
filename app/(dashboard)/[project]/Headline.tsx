import Link from 'next/link';
import type { Breakdown } from '@/lib/queries/loadBreakdown';
import { floorWords, headlineWords, tailWords } from './headlineWords';

type Told = Pick<Breakdown, 'largestAvoidable' | 'reason' | 'floors' | 'tailLever'>;

/** Where the page shows what is behind the gain of a sentence; null when none is claimed. */
export function explainHref(
  largest: Told['largestAvoidable'],
  hrefOf: (changes: { explain: string; explainAt: string }) => string,
): string | null {
  return largest && `${hrefOf({ explain: largest.levers.join(','), explainAt: largest.quantile })}#explain`;
}

type Props = { told: Told; place: string; explainHref: string | null };

/** The sentence: what to fix first, what it gains, the floor behind it, and the way to its requests. */
export function Headline({ told, place, explainHref: href }: Props) {
  const words = headlineWords(told, place);
  const tail = tailWords(told);
  return (
    <section className="card" aria-label="What to fix first">
      <p
        className="text-lg leading-snug"
        data-testid="sentence"
        data-reason={told.reason}
        data-place={place}
        data-levers={told.largestAvoidable?.levers.join(' ')}
        data-quantile={told.largestAvoidable?.quantile}
      >
        {words.before}
        {words.gain !== null && (
          <strong data-testid="gain" className="whitespace-nowrap">
            {words.gain}
          </strong>
        )}
        {words.after}
      </p>
      {tail && <p className="mt-1">{tail}</p>}
      {told.largestAvoidable?.levers.map((lever) => (
        <p key={lever} data-testid="floor" className="mt-1 text-quiet">
          {floorWords(lever, told.floors[lever])}
        </p>
      ))}
      {href !== null && (
        <p className="mt-1">
          <Link href={href} data-testid="explain-link">
            Which requests, and what was subtracted
          </Link>
        </p>
      )}
    </section>
  );
}
