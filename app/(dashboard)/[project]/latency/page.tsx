import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadLatency } from '@/lib/queries/loadLatency';
import { loadLatencyGroups } from '@/lib/queries/loadLatencyGroups';
import { loadMarkers } from '@/lib/queries/loadMarkers';
import { loadReceived } from '@/lib/queries/loadReceived';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { loadSelection } from '@/lib/queries/loadSelection';
import { BadScope } from '../BadScope';
import { EmptyProject } from '../EmptyProject';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import type { SearchParams } from '../scopeUrl';
import { Latency } from './Latency';
import { parseLatencyPage } from './latencyUrl';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Latency' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** How slow, for whom? */
export default async function LatencyPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const {
      page,
      input,
      before: earlier,
      groupBy,
      box,
      ...look
    } = parseLatencyPage(await searchParams, Date.now(), project.timeZone);
    const [latency, before, groups, selection, markers, options, received] = await Promise.all([
      loadLatency({ viewer, input }),
      earlier && loadLatency({ viewer, input: earlier }),
      loadLatencyGroups({ viewer, input: { ...page.scope, groupBy } }),
      box && loadSelection({ viewer, input: { ...page.scope, box } }),
      loadMarkers({ viewer, input: page.scope }),
      loadScopeOptions({ viewer }),
      loadReceived({ viewer }),
    ]);
    if (received.newestEventAt === null) return <EmptyProject slug={project.slug} />;
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Latency</h1>
        <ScopeBar page={page} options={options} canCompare />
        <Latency
          page={page}
          root={`/${project.slug}`}
          latency={latency}
          before={before}
          groups={groups}
          markers={markers.markers}
          {...look}
          selection={box && selection && { box, study: selection }}
        />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/latency`} message={error.message} hint={error.hint} />;
  }
}
