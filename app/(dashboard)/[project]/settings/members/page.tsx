import type { Metadata } from 'next';
import { loadMembers } from '@/lib/queries/loadMembers';
import { pageViewer } from '../../pageViewer';
import { InviteForm } from './InviteForm';
import { InviteTable } from './InviteTable';
import { MemberTable } from './MemberTable';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Members' };

/** Who may see this project? */
export default async function MembersPage({ params }: { params: Promise<{ project: string }> }) {
  const { viewer, project } = await pageViewer((await params).project);
  const { members, invites } = await loadMembers({ viewer });
  const isOwner = viewer.role === 'owner';
  const { slug, timeZone } = project;
  return (
    <main className="flex flex-col gap-4">
      <h1>Members of {project.name}</h1>
      {isOwner ? <InviteForm slug={slug} /> : <p className="text-quiet">Owners invite and change members.</p>}
      <MemberTable slug={slug} members={members} ownUserId={viewer.userId} canChange={isOwner} timeZone={timeZone} />
      <InviteTable slug={slug} invites={invites} timeZone={timeZone} />
    </main>
  );
}
