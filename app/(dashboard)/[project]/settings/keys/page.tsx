import type { Metadata } from 'next';
import { loadKeys } from '@/lib/queries/loadKeys';
import { pageViewer } from '../../pageViewer';
import { CreateKey } from './CreateKey';
import { KeyTable } from './KeyTable';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Keys' };

export default async function KeysPage({ params }: { params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await params).project);
  const keys = await loadKeys({ viewer });
  const isOwner = viewer.role === 'owner';
  return (
    <main className="flex flex-col gap-4">
      <h1>Keys of {project.name}</h1>
      {isOwner ? <CreateKey slug={project.slug} /> : <p className="text-quiet">Owners make and revoke keys.</p>}
      <KeyTable slug={project.slug} keys={keys} canRevoke={isOwner} />
    </main>
  );
}
