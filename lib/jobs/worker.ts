/** Runs the background work until `signal` aborts. */
export async function runWorker({ signal }: { signal: AbortSignal }): Promise<void> {
  const heartbeat = setInterval(() => {}, 60_000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(heartbeat);
}
