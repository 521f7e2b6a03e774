/** Exit code that tells the supervisor: starting again is of no use. */
export const GIVE_UP_CODE = 78;

/**
 * Calls `stop` once: on SIGTERM, SIGINT, or when the parent that supervises this process is gone (its message channel
 * closes even after `kill -9`).
 */
export function onStop(stop: (reason: string) => void): void {
  let called = false;
  const once = (reason: string) => {
    if (called) return;
    called = true;
    stop(reason);
  };
  process.on('SIGTERM', () => once('SIGTERM'));
  process.on('SIGINT', () => once('SIGINT'));
  if (process.channel !== undefined && process.channel !== null) {
    process.on('disconnect', () => once('parent gone'));
    process.channel.unref();
  }
}
