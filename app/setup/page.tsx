import type { Metadata } from 'next';
import Link from 'next/link';
import { isSetupLinkOpen } from '@/lib/auth/claimSetup';
import { SetupForm } from './SetupForm';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Set up', referrer: 'no-referrer' };

export default async function SetupPage({ searchParams }: { searchParams: Promise<{ token?: string | string[] }> }) {
  const { token } = await searchParams;
  const isOpen = typeof token === 'string' && (await isSetupLinkOpen(token));
  return (
    <main className="mx-auto mt-16 max-w-lg p-4">
      <div className="card">
        <h1>Set up Isochrone</h1>
        {isOpen ? (
          <SetupForm token={token} />
        ) : (
          <p className="mt-3 text-quiet">
            This set-up link no longer works. <Link href="/sign-in">Sign in</Link>, or restart Isochrone for a new link
            while nobody has an account.
          </p>
        )}
      </div>
    </main>
  );
}
