import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { currentUser } from '@/lib/auth/viewer';
import { SignInForm } from './SignInForm';

export const dynamic = 'force-dynamic';
export const metadata: Metadata = { title: 'Sign in' };

export default async function SignInPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const { next } = await searchParams;
  const target = typeof next === 'string' && /^\/[^/\\]/.test(next) ? next : '/';
  if ((await currentUser()) !== null) redirect(target);
  return (
    <main className="mx-auto mt-24 max-w-sm p-4">
      <div className="card">
        <h1>Sign in to Isochrone</h1>
        <SignInForm next={target} />
      </div>
    </main>
  );
}
