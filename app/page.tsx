import { redirect } from 'next/navigation';
import { currentUser } from '@/lib/auth/viewer';
import { loadProjectsOf } from '@/lib/queries/loadProject';

export const dynamic = 'force-dynamic';

export default async function HomePage() {
  const user = await currentUser();
  if (user === null) redirect('/sign-in');
  const [first] = await loadProjectsOf(user.userId);
  if (first) redirect(`/${first.slug}`);
  return (
    <main className="mx-auto max-w-lg p-8">
      <h1>No project</h1>
      <p className="mt-2 text-quiet">You are signed in as {user.email}. Ask an owner to add you to a project.</p>
    </main>
  );
}
