import type { Metadata } from 'next';
import { loadRules } from '@/lib/queries/loadRules';
import { pageViewer } from '../../pageViewer';
import { RuleEditor } from './RuleEditor';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Term rules' };

/** What do our spans mean? */
export default async function RulesPage({ params }: { params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await params).project);
  const { rules, version } = await loadRules({ viewer });
  return (
    <main className="flex flex-col gap-4">
      <h1>Term rules of {project.name}</h1>
      <p className="max-w-3xl text-quiet">
        Spans are classified by the conventions of OpenTelemetry and of the common AI libraries. Where yours say more, a
        rule names the term that a span&rsquo;s own time counts as, the endpoint of requests that start with it, or the
        region of its process. The first rule that matches decides. Rules hold for traces that end from now on, and the
        attributes they look at are kept from now on.
      </p>
      <RuleEditor slug={project.slug} initial={rules} version={version} canEdit={viewer.role === 'owner'} />
    </main>
  );
}
