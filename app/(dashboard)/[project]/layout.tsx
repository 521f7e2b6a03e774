import { cookies } from 'next/headers';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { parseTheme, THEME_COOKIE } from '@/app/theme';
import { loadProjectsOf } from '@/lib/queries/loadProject';
import { MobileNav } from '../shell/MobileNav';
import { PageNav } from '../shell/PageNav';
import { ProjectSwitcher } from '../shell/ProjectSwitcher';
import { Shortcuts } from '../shell/Shortcuts';
import { SignOut } from '../shell/SignOut';
import { ThemeToggle } from '../shell/ThemeToggle';
import { DemoBanner } from './DemoBanner';
import { pageViewer } from './pageViewer';

/** The frame of a project's pages. It decides nothing: each page checks its viewer itself. */
export default async function ProjectLayout(props: { children: ReactNode; params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await props.params).project);
  const mine = viewer.userId === null ? [] : await loadProjectsOf(viewer.userId);
  const others = mine.filter(({ slug }) => slug !== project.slug).map(({ slug, name }) => ({ slug, name }));
  const theme = parseTheme((await cookies()).get(THEME_COOKIE)?.value);
  const root = `/${project.slug}`;
  return (
    <>
      <a href="#content" className="skip-link">
        Skip to the content
      </a>
      <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-page px-4">
        <MobileNav root={root}>
          <ThemeToggle initial={theme} />
        </MobileNav>
        <Link href={root} className="font-semibold text-ink">
          Isochrone
        </Link>
        <span aria-hidden="true" className="text-quiet">
          /
        </span>
        <div className="flex min-w-0 flex-1">
          <ProjectSwitcher current={{ slug: project.slug, name: project.name }} others={others} />
        </div>
        <Shortcuts root={root} />
        <div className="max-lg:hidden">
          <ThemeToggle initial={theme} />
        </div>
        <SignOut />
      </header>
      <div className="mx-auto flex max-w-[100rem]">
        <aside className="sticky top-12 hidden h-[calc(100vh-3rem)] w-48 shrink-0 overflow-y-auto border-r border-line p-3 lg:block">
          <PageNav root={root} />
        </aside>
        <div id="content" tabIndex={-1} className="min-w-0 flex-1 p-4 focus:outline-none">
          {project.isDemo && <DemoBanner slug={project.slug} canRemove={viewer.role === 'owner'} />}
          {props.children}
        </div>
      </div>
    </>
  );
}
