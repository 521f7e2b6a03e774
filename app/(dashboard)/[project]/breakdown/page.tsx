import type { Metadata } from 'next';
import { isAnswerError } from '@/lib/platform/errors';
import { loadBreakdown } from '@/lib/queries/loadBreakdown';
import { loadExplanation } from '@/lib/queries/loadExplanation';
import { loadScopeOptions } from '@/lib/queries/loadScopeOptions';
import { parseLevers, parseQuantile } from '@/lib/queries/parseExplanation';
import { BadScope } from '../BadScope';
import { pageViewer } from '../pageViewer';
import { ScopeBar } from '../ScopeBar';
import { parsePageScope, type SearchParams } from '../scopeUrl';
import { Breakdown } from './Breakdown';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Breakdown' };

type Props = { params: Promise<{ project: string }>; searchParams: Promise<SearchParams> };

/** Where does the time go? */
export default async function BreakdownPage({ params, searchParams }: Props) {
  const { viewer, project } = await pageViewer((await params).project);
  try {
    const page = parsePageScope(await searchParams, Date.now(), project.timeZone);
    const explain = page.params.get('explain');
    const asked = explain && {
      ...{ scope: page.scope, levers: parseLevers(explain), quantile: parseQuantile(page.params.get('explainAt')) },
    };
    const [breakdown, options, explanation] = await Promise.all([
      loadBreakdown({ viewer, input: page.scope }),
      loadScopeOptions({ viewer }),
      asked ? loadExplanation({ viewer, input: asked }) : null,
    ]);
    return (
      <main className="flex flex-col gap-4">
        <h1 className="sr-only">Breakdown</h1>
        <ScopeBar page={page} options={options} />
        <Breakdown
          {...{ breakdown, explanation, place: placeOf(page.scope), params: page.params, zone: page.zone }}
          root={`/${project.slug}`}
        />
      </main>
    );
  } catch (error) {
    if (!isAnswerError(error) || error.status !== 400) throw error;
    return <BadScope root={`/${project.slug}/breakdown`} message={error.message} hint={error.hint} />;
  }
}

/** "chat from eu-west-2", as far as the scope says. */
function placeOf(scope: { endpoint: string[]; clientRegion: string[] }): string {
  const endpoint = scope.endpoint.length === 0 ? 'this scope' : scope.endpoint.join(', ');
  return scope.clientRegion.length === 0 ? endpoint : `${endpoint} from ${scope.clientRegion.join(', ')}`;
}
