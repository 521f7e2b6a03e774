import type { Metadata } from 'next';
import { loadEndpointClassList } from '@/lib/queries/loadEndpointClassList';
import { pageViewer } from '../../pageViewer';
import { ClassTable } from './ClassTable';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Endpoints' };

/** What is the wait of each endpoint? */
export default async function EndpointsPage({ params }: { params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await params).project);
  const classes = await loadEndpointClassList({ viewer });
  return (
    <main className="flex flex-col gap-4">
      <h1>Endpoints of {project.name}</h1>
      <p className="max-w-prose text-quiet">
        The class decides what a user of the endpoint waits for: the first output on streaming and voice endpoints, the
        complete answer on the others. It is guessed once a day from what is sent, unless it is set here. Nothing stored
        depends on it, so a change holds for the past too, at once.
      </p>
      {classes.length === 0 ? (
        <p className="card">No endpoint has been seen yet.</p>
      ) : (
        <ClassTable slug={project.slug} classes={classes} canChange={viewer.role === 'owner'} />
      )}
    </main>
  );
}
