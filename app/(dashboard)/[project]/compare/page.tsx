import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadComparison } from '@/lib/queries/loadComparison';
import { loadReceived } from '@/lib/queries/loadReceived';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { BadScope } from '../BadScope';
import { EmptyProject } from '../EmptyProject';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import type { SearchParams } from '../scopeUrl';
import { Comparison } from './Comparison';
import { parseComparePage } from './compareUrl';
import { SegmentPicker } from './SegmentPicker';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Compare' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** What changed? */
export default async function ComparePage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const { page, input, segments } = parseComparePage(await searchParams, Date.now(), project.timeZone);
    const [comparison, options, received] = await Promise.all([
      loadComparison({ viewer, input }),
      loadScopeOptions({ viewer }),
      loadReceived({ viewer }),
    ]);
    if (received.newestEventAt === null) return <EmptyProject slug={project.slug} />;
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Compare</h1>
        <ScopeBar page={page} options={options} canCompare={segments === null} />
        <SegmentPicker options={options} segments={segments} />
        <Comparison comparison={comparison} page={page} segments={segments} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/compare`} message={error.message} hint={error.hint} />;
  }
}
