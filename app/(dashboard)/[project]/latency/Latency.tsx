import { timeAxis } from '@/lib/charts/timeAxis';
import type { Latency as LatencyResult } from '@/lib/queries/loadLatency';
import type { LatencyGroups } from '@/lib/queries/loadLatencyGroups';
import type { MarkerLine } from '@/lib/queries/loadMarkers';
import type { Step } from '@/lib/queries/loadQuantiles';
import type { Box, Selection } from '@/lib/queries/loadSelection';
import { Choices } from '../Choices';
import { MarkerList } from '../MarkerList';
import { RangeNote } from '../RangeNote';
import type { PageScope } from '../scopeUrl';
import { withParams } from '../urlParams';
import { csvHref } from './csvHref';
import { GroupTable } from './GroupTable';
import { Heatmap } from './Heatmap';
import { LatencyChart } from './LatencyChart';
import { LatencyTable } from './LatencyTable';
import type { Sort } from './latencyUrl';
import { SelectionCard } from './SelectionCard';
import { Summary } from './Summary';

type Props = {
  page: PageScope;
  root: string;
  latency: LatencyResult;
  before: LatencyResult | null;
  groups: LatencyGroups;
  markers: MarkerLine[];
  steps: Step[];
  isLog: boolean;
  sort: Sort;
  selection: { box: Box; study: Selection } | null;
};

const STEP_WORDS = { PT5M: '5 minutes', PT1H: 'hour', P1D: 'day' };
const METRIC_WORDS = { wait: 'Wait', e2e: 'End to end', ttft: 'First output' };

export function Latency({ page, root, latency, before, groups, markers, steps, isLog, sort, selection }: Props) {
  const { zone, params, scope } = page;
  const axis = timeAxis(latency.points, zone);
  const metric = METRIC_WORDS[latency.metric];
  const csv = csvHref(root, scope, { step: latency.step });
  return (
    <>
      <RangeNote answer={latency} vantage={latency.vantage} zone={zone} />
      <Summary now={latency.summary} before={before?.summary ?? null} />
      <section className="card" aria-labelledby="over-time">
        <div className="mb-2 flex flex-wrap items-baseline gap-x-4">
          <h2 id="over-time">{metric} by</h2>
          <Choices
            label="Length of the buckets"
            choices={steps.map((step) => ({ words: STEP_WORDS[step], href: withParams(params, { step }) }))}
            chosen={STEP_WORDS[latency.step]}
          />
          <span className="flex-1" />
          <Choices
            label="Axis"
            choices={[
              { words: 'logarithmic', href: withParams(params, { axis: null }) },
              { words: 'linear', href: withParams(params, { axis: 'linear' }) },
            ]}
            chosen={isLog ? 'logarithmic' : 'linear'}
          />
          <a href={csv}>CSV</a>
        </div>
        <LatencyChart
          title={`${metric} p50, p95 and p99 by ${STEP_WORDS[latency.step]}, with 95 % intervals, and requests`}
          axis={axis}
          points={latency.points}
          before={before?.points ?? null}
          isLog={isLog}
          markers={markers}
        />
        <MarkerList markers={markers} page={page} root={root} />
        <LatencyTable axis={axis} points={latency.points} title={`${metric} by ${STEP_WORDS[latency.step]}`} />
      </section>
      <section className="card" aria-labelledby="spread">
        <h2 id="spread">How the waits spread</h2>
        <p className="mb-2 text-quiet">Drag over an area to see what is different about the requests in it.</p>
        <Heatmap
          axis={axis}
          points={latency.points}
          cells={latency.heatmap}
          box={selection?.box ?? null}
          markers={markers}
        />
        {selection && <SelectionCard {...selection} page={page} root={root} />}
      </section>
      <GroupTable groups={groups} sort={sort} params={params} csv={csvHref(root, scope, { groupBy: groups.groupBy })} />
    </>
  );
}
