import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { isAnswerError } from '@/lib/platform/errors';
import { loadRequest } from '@/lib/queries/loadRequest';
import { loadTrace } from '@/lib/queries/loadTrace';
import { parseRequestLookup } from '@/lib/queries/parseRequests';
import { BadScope } from '../../BadScope';
import { pageViewer } from '../../pageViewer';
import { RequestDetail } from './RequestDetail';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Request' };

type Props = {
  params: Promise<{ project: string; id: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/** Why was this one slow? */
export default async function RequestPage({ params, searchParams }: Props) {
  const { project: slug, id } = await params;
  const { viewer, project } = await pageViewer(slug);
  try {
    const { startedAt, metric } = await searchParams;
    const given = new URLSearchParams();
    if (typeof startedAt === 'string') given.set('startedAt', startedAt);
    if (typeof metric === 'string') given.set('metric', metric);
    const input = { id: decodeURIComponent(id), ...parseRequestLookup(given) };
    const detail = await loadRequest({ viewer, input });
    const { id: requestId, traceId, startedAt: at } = detail.request;
    const trace = await loadTrace({ viewer, input: { requestId, traceId, startedAtUs: Date.parse(at) * 1_000 } });
    return <RequestDetail detail={detail} trace={trace} project={project} />;
  } catch (error) {
    if (!isAnswerError(error)) throw error;
    if (error.status === 404) notFound();
    if (error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/requests`} message={error.message} hint={error.hint} />;
  }
}
