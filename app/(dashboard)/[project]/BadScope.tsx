import Link from 'next/link';

/** What is wrong in the address of a page, and a way out. */
export function BadScope({ root, message, hint }: { root: string; message: string; hint: string }) {
  return (
    <main className="card" role="alert">
      <h1>This question cannot be answered</h1>
      <p className="mt-2">{message}</p>
      <p className="text-quiet">{hint}</p>
      <p className="mt-3">
        <Link href={root}>Start again with the last 7 days</Link>
      </p>
    </main>
  );
}
