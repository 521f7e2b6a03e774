import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadReceived } from '@/lib/queries/loadReceived';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { loadWhatIf } from '@/lib/queries/loadWhatIf';
import { parseLevers, WHAT_IF_PARAMETERS } from '@/lib/queries/parseWhatIf';
import { BadScope } from '../BadScope';
import { EmptyProject } from '../EmptyProject';
import { pageViewer } from '../pageViewer';
import { RangeNote } from '../RangeNote';
import { ScopeBar } from '../ScopeBar';
import { parsePageScope, type SearchParams } from '../scopeUrl';
import { Effect } from './Effect';
import { LeverForm } from './LeverForm';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'What if' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

const OWN: readonly string[] = WHAT_IF_PARAMETERS;

/** What would it gain? */
export default async function WhatIfPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const search = Object.entries(await searchParams);
    const shared = Object.fromEntries(search.filter(([name]) => !OWN.includes(name)));
    const own = new URLSearchParams();
    for (const [name, value] of search)
      if (OWN.includes(name)) for (const one of [value ?? []].flat()) own.append(name, one);
    const levers = parseLevers(own);
    const page = parsePageScope(shared, Date.now(), project.timeZone);
    const [answer, options, received] = await Promise.all([
      loadWhatIf({ viewer, input: { ...page.scope, ...levers } }),
      loadScopeOptions({ viewer }),
      loadReceived({ viewer }),
    ]);
    if (received.newestEventAt === null) return <EmptyProject slug={project.slug} />;
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">What if</h1>
        <ScopeBar page={page} options={options} />
        <RangeNote answer={answer} vantage={null} zone={page.zone} />
        <LeverForm key={own.toString()} chosen={levers} regions={options.serviceRegions} />
        <Effect answer={answer} isAsked={levers.levers.length > 0} />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/what-if`} message={error.message} hint={error.hint} />;
  }
}
