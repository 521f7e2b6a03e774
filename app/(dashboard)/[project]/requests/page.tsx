import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadRequests } from '@/lib/queries/loadRequests';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { BadScope } from '../BadScope';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import type { SearchParams } from '../scopeUrl';
import { RequestFilters } from './RequestFilters';
import { RequestList } from './RequestList';
import { parseRequestsPage } from './requestsUrl';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Requests' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** Which requests were slow? */
export default async function RequestsPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const { page, input } = parseRequestsPage(await searchParams, Date.now(), project.timeZone);
    const [list, options] = await Promise.all([loadRequests({ viewer, input }), loadScopeOptions({ viewer })]);
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Requests</h1>
        <ScopeBar page={page} options={options} />
        <RequestFilters input={input} params={page.params} />
        <RequestList list={list} slug={project.slug} page={page} isFirst={input.after === null} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || (error.status !== 400 && error.code !== 'over_budget')) throw error;
    return <BadScope root={`/${project.slug}/requests`} message={error.message} hint={error.hint} />;
  }
}
