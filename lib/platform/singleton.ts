/**
 * The one instance of something with state (a pool, a client, a cache) in this process.
 * `lib/` is bundled twice, for the server and for Next, so module-level state would exist twice: keep it here instead.
 */
export function singleton<T>(name: string, create: () => T): T {
  const key = Symbol.for(`isochrone.${name}`);
  const store = globalThis as { [key: symbol]: unknown };
  store[key] ??= create();
  return store[key] as T;
}
