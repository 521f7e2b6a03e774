import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { loadSetup } from '@/lib/queries/loadSetup';
import { BadScope } from '../BadScope';
import { pageViewer } from '../pageViewer';
import { RangeNote } from '../RangeNote';
import { ScopeBar } from '../ScopeBar';
import { parsePageScope, type SearchParams } from '../scopeUrl';
import { Recipes } from './Recipes';
import { RegionTable } from './RegionTable';
import { Steps } from './Steps';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Set-up' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** How far is this project with the method? */
export default async function SetupStatePage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const page = parsePageScope(await searchParams, Date.now(), project.timeZone);
    const [setup, options] = await Promise.all([
      loadSetup({ viewer, input: page.scope }),
      loadScopeOptions({ viewer }),
    ]);
    return (
      <main className="flex flex-col gap-4">
        <h1>How far is the measurement?</h1>
        <ScopeBar page={page} options={options} />
        <RangeNote answer={setup} vantage={null} zone={page.zone} />
        <Steps setup={setup} root={`/${project.slug}`} />
        <RegionTable regions={setup.regions} />
        <Recipes slug={project.slug} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/setup`} message={error.message} hint={error.hint} />;
  }
}
