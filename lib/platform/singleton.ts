const REGISTRY = Symbol.for('isochrone.singletons');
type Store = { [REGISTRY]?: Map<string, unknown> };

/**
 * The one instance of something with state (a pool, a client, a cache) in this process.
 * `lib/` is bundled twice, for the server and for Next, so module-level state would exist twice: keep it here instead.
 */
export function singleton<T>(name: string, create: () => T): T {
  const store = globalThis as Store;
  store[REGISTRY] ??= new Map();
  const registry = store[REGISTRY];
  let value = registry.get(name);
  if (value === undefined) {
    value = create();
    registry.set(name, value);
  }
  return value as T;
}
