'use client';

export default function ErrorPage({ reset }: { error: Error; reset: () => void }) {
  return (
    <main className="mx-auto max-w-lg p-8">
      <h1>This page could not be made</h1>
      <p className="mt-2 text-quiet">Nothing is lost. The log of the server says what went wrong.</p>
      <button type="button" className="mt-4" onClick={reset}>
        Try again
      </button>
    </main>
  );
}
