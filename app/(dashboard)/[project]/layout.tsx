import Link from 'next/link';
import type { ReactNode } from 'react';
import { DemoBanner } from './DemoBanner';
import { OtherProjects } from './OtherProjects';
import { pageViewer } from './pageViewer';
import { SignOut } from './SignOut';

/** The frame of a project's pages. It decides nothing: each page checks its viewer itself. */
export default async function ProjectLayout(props: { children: ReactNode; params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await props.params).project);
  const root = `/${project.slug}`;
  return (
    <div className="mx-auto max-w-7xl p-4">
      <header className="mb-4 flex flex-wrap items-center gap-x-5 gap-y-2 border-b border-line pb-3">
        <Link href={root} className="font-semibold text-ink">
          Isochrone · {project.name}
        </Link>
        <nav aria-label="Pages" className="flex flex-1 gap-4">
          <Link href={root}>Overview</Link>
          <Link href={`${root}/breakdown`}>Breakdown</Link>
          <Link href={`${root}/settings/keys`}>Keys</Link>
        </nav>
        <OtherProjects userId={viewer.userId} current={project.slug} />
        <SignOut />
      </header>
      {project.isDemo && <DemoBanner slug={project.slug} canRemove={viewer.role === 'owner'} />}
      {props.children}
    </div>
  );
}
