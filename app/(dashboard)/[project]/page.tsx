import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadOverview } from '@/lib/queries/loadOverview';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { BadScope } from './BadScope';
import { EmptyProject } from './EmptyProject';
import { Overview } from './Overview';
import { pageViewer } from './pageViewer';
import { ScopeBar } from './ScopeBar';
import { parsePageScope, type SearchParams } from './scopeUrl';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Overview' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** Are we healthy, and what should we fix first? */
export default async function OverviewPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const page = parsePageScope(await searchParams, Date.now(), project.timeZone);
    const overview = await loadOverview({ viewer, input: page.scope });
    if (overview.newestEventAt === null) return <EmptyProject slug={project.slug} />;
    const options = await loadScopeOptions({ viewer });
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Overview</h1>
        <ScopeBar page={page} options={options} />
        <Overview overview={overview} root={`/${project.slug}`} params={page.params} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}`} message={error.message} hint={error.hint} />;
  }
}
