import { MAX_DEPTH } from './contract';

export type ShapeFault = 'not_an_object' | 'too_deep' | 'prototype';

/** What is wrong with the shape of a JSON value at a depth (an event is at 1): too deep, or a name taken for a prototype. */
export function shapeFault(value: unknown, depth: number): ShapeFault | null {
  if (typeof value !== 'object' || value === null) return depth === 1 ? 'not_an_object' : null;
  if (depth > MAX_DEPTH) return 'too_deep';
  if (Object.hasOwn(value, '__proto__')) return 'prototype';
  for (const child of Object.values(value)) {
    if (typeof child !== 'object' || child === null) continue;
    const fault = shapeFault(child, depth + 1);
    if (fault) return fault;
  }
  return null;
}
