import { formatMs } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { TERM_LABELS, TERMS, type Term } from '@/lib/core/terms';

type Props = { terms: Record<Term, number | null>; wholeMs: number; size?: 'line' | 'large' };

/** One request's time, divided: each term as wide as its share. The numbers stand beside it, so it is decoration there. */
export function TermBar({ terms, wholeMs, size = 'line' }: Props) {
  return (
    <div
      aria-hidden="true"
      className={`flex w-full overflow-hidden rounded-sm bg-line ${size === 'large' ? 'h-8' : 'h-3 min-w-32'}`}
    >
      {TERMS.map((term) => {
        const ms = terms[term];
        if (ms === null || ms <= 0 || wholeMs <= 0) return null;
        return (
          <span
            key={term}
            title={`${TERM_LABELS[term]}: ${formatMs(ms)}`}
            style={{ width: `${(100 * ms) / wholeMs}%`, background: TERM_COLOURS[term] }}
          />
        );
      })}
    </div>
  );
}
