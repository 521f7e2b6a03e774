import Link from 'next/link';
import { formatCount } from '@/lib/charts/formatMs';
import { percentileLabel, stackedBars } from '@/lib/charts/stackedBars';
import { MEASURED_TERMS } from '@/lib/core/terms';
import type { Breakdown as BreakdownResult } from '@/lib/queries/loadBreakdown';
import type { Explanation } from '@/lib/queries/loadExplanation';
import { explainHref, Headline } from '../Headline';
import { RangeNote } from '../RangeNote';
import { StackedChart } from '../StackedChart';
import { withParams } from '../scopeUrl';
import { DurationTable } from './DurationTable';
import { Explain } from './Explain';
import { GainTable } from './GainTable';
import { PairTable } from './PairTable';
import { PlacementTable } from './PlacementTable';
import { StageTable } from './StageTable';
import { TermTable } from './TermTable';

type Props = {
  breakdown: BreakdownResult;
  /** What is behind the gain asked about; null when nothing was asked, or several endpoints are in view. */
  explanation: Explanation | null;
  place: string;
  root: string;
  params: URLSearchParams;
  zone: string;
};

export function Breakdown({ breakdown, explanation, place, root, params, zone }: Props) {
  const { anatomy, count, excluded } = breakdown;
  if (count + excluded.errors + excluded.cached === 0)
    return (
      <>
        <RangeNote answer={breakdown} vantage={breakdown.vantage} zone={params.get('timeZone')} />
        <NoRequests root={root} />
      </>
    );
  return (
    <>
      <RangeNote answer={breakdown} vantage={breakdown.vantage} zone={params.get('timeZone')} />
      <Headline
        told={breakdown}
        place={place}
        explainHref={explainHref(breakdown.largestAvoidable, (changes) => withParams(params, changes))}
      />
      {explanation && <Explain explanation={explanation} root={root} params={params} zone={zone} />}
      <DurationTable breakdown={breakdown} />
      {hasNoTerms(breakdown) && (
        <p className="card bg-note" data-testid="no-terms">
          No terms reported: only the durations as a whole. Where the time goes stays unattributed until events carry
          terms or calls.
        </p>
      )}
      {anatomy.length > 0 && (
        <section className="card">
          <h2 className="mb-2">Anatomy: what requests at each percentile are made of</h2>
          <StackedChart
            title="Mean terms by percentile of wait"
            bars={stackedBars(anatomy.map((p) => ({ label: percentileLabel(p.percentile), point: p })))}
            direction="up"
            labelHeading="Percentile of wait"
          />
        </section>
      )}
      <PairTable breakdown={breakdown} params={params} />
      <TermTable terms={breakdown.quantiles.terms} touched={breakdown.touched} />
      <GainTable breakdown={breakdown} params={params} />
      <PlacementTable placements={breakdown.placements} />
      <StageTable stages={breakdown.stages} steps={breakdown.steps} />
      <Excluded breakdown={breakdown} />
    </>
  );
}

function NoRequests({ root }: { root: string }) {
  return (
    <section className="card" data-testid="no-requests">
      <h2>No requests in this scope</h2>
      <p className="mt-2 text-quiet">
        Widen the range or take filters away. If nothing was ever sent, <Link href={`${root}/setup`}>Set-up</Link> shows
        what to send; <Link href={`${root}/trust`}>Trust</Link> shows what was received and what was rejected.
      </p>
    </section>
  );
}

/** Whether the requests tell how long they took and nothing of why. */
function hasNoTerms({ count, quantiles }: BreakdownResult): boolean {
  return count > 0 && MEASURED_TERMS.every((term) => quantiles.terms[term].n === 0);
}

function Excluded({ breakdown }: { breakdown: BreakdownResult }) {
  const { excluded, count, weighted } = breakdown;
  const parts = [
    [excluded.errors, 'errors'],
    [excluded.cancelled, 'cancelled'],
    [excluded.cached, 'answered from a response cache'],
    [excluded.withoutFirstOutput, 'without a first output'],
  ] as const;
  return (
    <p className="text-quiet" data-testid="excluded">
      {formatCount(count)} requests recorded{weighted === count ? '' : `, standing for ${formatCount(weighted)}`}. Not
      in these percentiles: {parts.map(([n, words]) => `${formatCount(n)} ${words}`).join(', ')}.
    </p>
  );
}
