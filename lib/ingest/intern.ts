// One object for equal dimensions, and one for equal attributes: what follows (ids, keys of roll-ups) is then looked up by
// object, not by content, and a batch keeps a few hundred objects instead of one an event. Bounded; cleared when full.

import type { Dimensions } from '../core/request';
import type { Vantage } from '../core/terms';
import type { IngestEvent } from './contract';

type Attributes = Readonly<Record<string, string>>;

const MOST = 50_000;
/** Beyond this many of one hash the content is not shared: a made-up collision costs nobody time. */
const MOST_OF_A_HASH = 8;

function mix(hash: number, text: string | null | undefined): number {
  if (text === null || text === undefined) return Math.imul(hash ^ 0x9e37, 16777619);
  let h = hash ^ text.length;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
}

const LABELS = ['environment', 'version', 'clientRegion', 'serviceRegion', 'provider', 'model', 'modelRegion'] as const;

function isSame(dims: Dimensions, event: IngestEvent, vantage: Vantage): boolean {
  if (dims.endpoint !== event.endpoint || dims.vantage !== vantage) return false;
  for (const label of LABELS) if (dims[label] !== (event[label] ?? null)) return false;
  return true;
}

function hasSame(set: Attributes, count: number, attributes: Attributes): boolean {
  let left = count;
  for (const name in set) {
    if (set[name] !== attributes[name]) return false;
    left--;
  }
  return left === 0;
}

/** The dimensions of an event as an object of its own. */
export function dimensionsOf(event: IngestEvent, vantage: Vantage): Dimensions {
  return {
    endpoint: event.endpoint,
    vantage,
    environment: event.environment ?? null,
    version: event.version ?? null,
    clientRegion: event.clientRegion ?? null,
    serviceRegion: event.serviceRegion ?? null,
    provider: event.provider ?? null,
    model: event.model ?? null,
    modelRegion: event.modelRegion ?? null,
  };
}

/** Shared objects by content. */
export class InternTable {
  private readonly dims = new Map<number, Dimensions[]>();
  private readonly sets = new Map<number, Attributes[]>();

  /** The one object for these dimensions. */
  dimensions(event: IngestEvent, vantage: Vantage): Dimensions {
    let hash = mix(mix(7, event.endpoint), vantage);
    for (const label of LABELS) hash = mix(hash, event[label]);
    const known = this.dims.get(hash);
    if (known !== undefined) for (const dims of known) if (isSame(dims, event, vantage)) return dims;
    return share(this.dims, hash, dimensionsOf(event, vantage));
  }

  /** The one object for these attributes, whatever the order of their names; null for none. */
  attributes(attributes: Attributes | null | undefined): Attributes | null {
    if (attributes === null || attributes === undefined) return null;
    let hash = 0;
    let count = 0;
    for (const name in attributes) {
      hash = (hash + mix(mix(1, name), attributes[name])) | 0;
      count++;
    }
    if (count === 0) return null;
    const known = this.sets.get(hash);
    if (known !== undefined) for (const set of known) if (hasSame(set, count, attributes)) return set;
    return share(this.sets, hash, attributes);
  }
}

function share<T>(table: Map<number, T[]>, hash: number, value: T): T {
  if (table.size >= MOST) table.clear();
  const known = table.get(hash);
  if (known === undefined) table.set(hash, [value]);
  else if (known.length < MOST_OF_A_HASH) known.push(value);
  return value;
}
