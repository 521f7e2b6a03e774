import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadRegions } from '@/lib/queries/loadRegions';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { BadScope } from '../BadScope';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import { parsePageScope, type SearchParams } from '../scopeUrl';
import { Regions } from './Regions';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Regions' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** Who is far away, and what would moving gain? */
export default async function RegionsPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const page = parsePageScope(await searchParams, Date.now(), project.timeZone);
    const [regions, options] = await Promise.all([
      loadRegions({ viewer, input: page.scope }),
      loadScopeOptions({ viewer }),
    ]);
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Regions</h1>
        <ScopeBar page={page} options={options} />
        <Regions regions={regions} page={page} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/regions`} message={error.message} hint={error.hint} />;
  }
}
