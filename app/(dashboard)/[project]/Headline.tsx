import type { Breakdown } from '@/lib/queries/loadBreakdown';
import { floorWords, headlineWords, tailWords } from './headlineWords';

type Told = Pick<Breakdown, 'largestAvoidable' | 'reason' | 'floors' | 'tailLever'>;

/** The sentence: what to fix first, what it gains, and the floor behind it. */
export function Headline({ told, place }: { told: Told; place: string }) {
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
    </section>
  );
}
