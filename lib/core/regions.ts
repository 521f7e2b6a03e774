// Where a region is, and the round trip between two of them.
//
// A name is "provider:code", "provider/code" or a bare code whose own form decides: AWS us-west-1 is not GCP us-west1,
// so hyphens are kept. Round trip of a pair: the measured matrix of their provider, else what fibre allows, else null.

import { PLACES, ROUND_TRIPS } from './data/roundTrips';

export type Region = { provider: string; code: string };

/** Bare codes are looked for in this order; only airport codes of Fly and Cloudflare collide, and those are one place. */
const PROVIDERS = ['aws', 'gcp', 'azure', 'vercel', 'fly', 'ibm', 'cloudflare'] as const;
const ALIASES: Readonly<Record<string, string>> = { google: 'gcp', amazon: 'aws', microsoft: 'azure', 'fly.io': 'fly' };

/** The region a name means, or null when it is not known (it is then kept as sent, and has no round trip). */
export function parseRegion(name: string | null): Region | null {
  if (name === null) return null;
  const prefixed = /^([a-z.]+)[:/](.+)$/i.exec(name.trim());
  const code = (prefixed?.[2] ?? name).trim().toLowerCase();
  if (prefixed) {
    const said = prefixed[1]!.toLowerCase();
    const provider = ALIASES[said] ?? said;
    return isKnown(provider, code) ? { provider, code } : null;
  }
  const provider = PROVIDERS.find((candidate) => isKnown(candidate, code));
  return provider === undefined ? null : { provider, code };
}

/** "provider:code" for both ways to write a region, or the name as sent: equal texts are the same place. */
export function regionKey(name: string): string {
  const region = parseRegion(name);
  return region === null ? name : `${region.provider}:${region.code}`;
}

/** Where a named region is, in degrees [latitude, longitude]; null when that is not known. */
export function placeOf(name: string | null): readonly [number, number] | null {
  const region = parseRegion(name);
  return region === null ? null : (PLACES[region.provider]?.[region.code] ?? null);
}

/** All regions of a cloud that the matrix or the map knows, as bare codes. Edges and unknown clouds have none. */
export function regionsOf(provider: string): readonly string[] {
  if (provider === 'cloudflare') return [];
  return ROUND_TRIPS[provider]?.codes ?? Object.keys(PLACES[provider] ?? {});
}

/** Round trip (ms) between two named regions, and where the figure is from; null when a place is not known. */
export function roundTripMs(from: string | null, to: string | null): { ms: number; source: string } | null {
  const a = parseRegion(from);
  const b = parseRegion(to);
  if (a === null || b === null) return null;
  const measured = matrixMs(a, b) ?? matrixMs(b, a);
  if (measured !== null) return { ms: measured, source: `measured between ${a.provider} regions` };
  const placeA = PLACES[a.provider]?.[a.code];
  const placeB = PLACES[b.provider]?.[b.code];
  if (placeA === undefined || placeB === undefined) return null;
  return { ms: fibreFloorMs(greatCircleKm(placeA, placeB)), source: 'light in fibre' };
}

/** Names a pair of places, the same for both ways to write each. */
export const tripName = (from: string, to: string): string => `${regionKey(from)} ${regionKey(to)}`;

export type Trips = (from: string | null, to: string | null) => { ms: number; source: string } | null;

/** Round trips of one question, each looked up once: what own probes saw, else `roundTripMs`. */
export function createTrips(probedMs?: ReadonlyMap<string, number>): Trips {
  const known = new Map<string | null, Map<string | null, ReturnType<Trips>>>();
  const find: Trips = (from, to) => {
    if (from === null || to === null) return null;
    const probed = probedMs?.get(tripName(from, to)) ?? probedMs?.get(tripName(to, from));
    return probed === undefined ? roundTripMs(from, to) : { ms: probed, source: 'seen by own probes' };
  };
  return (from, to) => {
    const row = known.get(from) ?? new Map<string | null, ReturnType<Trips>>();
    known.set(from, row);
    const before = row.get(to);
    if (before !== undefined) return before;
    const trip = find(from, to);
    row.set(to, trip);
    return trip;
  };
}

/** The best round trip (ms) that a distance allows: 99.93 km a millisecond in fibre, and the detours cables make. */
export function fibreFloorMs(km: number): number {
  const fibreMs = km / 99.93;
  return km < 300 ? Math.max(1, 2.3 * fibreMs) : Math.max(1, 1.35 * fibreMs + 1);
}

function isKnown(provider: string, code: string): boolean {
  return PLACES[provider]?.[code] !== undefined || (ROUND_TRIPS[provider]?.codes.includes(code) ?? false);
}

function matrixMs(a: Region, b: Region): number | null {
  if (a.provider !== b.provider) return null;
  const matrix = ROUND_TRIPS[a.provider];
  if (matrix === undefined) return null;
  return matrix.ms[matrix.codes.indexOf(a.code)]?.[matrix.codes.indexOf(b.code)] ?? null;
}

const EARTH_RADIUS_KM = 6371;
const radians = (degrees: number) => (degrees * Math.PI) / 180;

function greatCircleKm(a: readonly [number, number], b: readonly [number, number]): number {
  const dLat = radians(b[0] - a[0]);
  const dLon = radians(b[1] - a[1]);
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(radians(a[0])) * Math.cos(radians(b[0])) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}
