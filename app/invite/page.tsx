import type { Metadata } from 'next';
import Link from 'next/link';
import { readInvite } from '@/lib/auth/acceptInvite';
import { currentUser } from '@/lib/auth/viewer';
import { JoinForm } from './JoinForm';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Invitation', referrer: 'no-referrer' };

/** Join a project by the link that an owner made. */
export default async function InvitePage({ searchParams }: { searchParams: Promise<{ token?: string | string[] }> }) {
  const { token } = await searchParams;
  const invite = typeof token === 'string' ? await readInvite(token) : null;
  const user = await currentUser();
  return (
    <main className="mx-auto mt-16 max-w-lg p-4">
      <div className="card">
        {invite === null || typeof token !== 'string' ? (
          <>
            <h1>This invitation no longer works</h1>
            <p className="mt-3 text-quiet">
              Invitations work once and last 7 days. Ask an owner of the project for a new one, or{' '}
              <Link href="/sign-in">sign in</Link>.
            </p>
          </>
        ) : (
          <>
            <h1>Join {invite.project}</h1>
            <p className="mt-2 text-quiet">
              For {invite.email}, as {invite.role}.
            </p>
            {user !== null && user.email !== invite.email ? (
              <p className="mt-3" role="alert">
                You are signed in as {user.email}. Sign out, then open the link again.
              </p>
            ) : user === null && invite.hasAccount ? (
              <p className="mt-3">
                This address has an account:{' '}
                <a href={`/sign-in?next=${encodeURIComponent(`/invite?token=${token}`)}`}>sign in to join</a>.
              </p>
            ) : (
              <JoinForm token={token} email={invite.email} isNew={user === null} />
            )}
          </>
        )}
      </div>
    </main>
  );
}
