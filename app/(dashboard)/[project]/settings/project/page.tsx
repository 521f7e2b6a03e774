import type { Metadata } from 'next';
import { loadProjectSettings } from '@/lib/queries/loadProjectSettings';
import { pageViewer } from '../../pageViewer';
import { ProjectForm } from './ProjectForm';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Project' };

/** Name, time zone and retention of the project. */
export default async function ProjectPage({ params }: { params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await params).project);
  const settings = await loadProjectSettings({ viewer });
  return (
    <main className="flex flex-col gap-4">
      <h1>Project {project.name}</h1>
      {settings.wantedTimeZone !== null && (
        <p className="card bg-note" role="status" data-testid="zone-pending">
          The roll-ups are being made anew for {settings.wantedTimeZone}; until then hours and days are those of{' '}
          {settings.timeZone}.
        </p>
      )}
      <ProjectForm slug={project.slug} settings={settings} canChange={viewer.role === 'owner'} />
    </main>
  );
}
