import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { loadTrust } from '@/lib/queries/loadTrust';
import { BadScope } from '../BadScope';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import { parsePageScope, type SearchParams } from '../scopeUrl';
import { Trust } from './Trust';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Trust' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** Can I trust these numbers? */
export default async function TrustPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const page = parsePageScope(await searchParams, Date.now(), project.timeZone);
    const question = { viewer, input: page.scope };
    const [trust, options] = await Promise.all([loadTrust(question), loadScopeOptions({ viewer })]);
    return (
      <main className="flex flex-col gap-4">
        <h1>Can these numbers be trusted?</h1>
        <ScopeBar page={page} options={options} />
        <Trust trust={trust} zone={page.zone} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/trust`} message={error.message} hint={error.hint} />;
  }
}
