import Link from 'next/link';

export default function NotFoundPage() {
  return (
    <main className="mx-auto max-w-lg p-8">
      <h1>Not found</h1>
      <p className="mt-2 text-quiet">There is no such page or project here, or you are not a member of it.</p>
      <p className="mt-4">
        <Link href="/">To your first project</Link>
      </p>
    </main>
  );
}
