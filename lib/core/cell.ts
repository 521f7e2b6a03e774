// Cells: what a roll-up keeps of the requests of one combination of dimensions, in families that are read apart.
// Every cell is mergeable, its encoding canonical. Vantage, environment, outcome and cache hit are never dropped from a
// key: they are populations that must not be pooled by accident.

import { type Anatomy, addToAnatomy, encodeAnatomy, mergeAnatomy, readAnatomy } from './anatomy';
import { ByteReader, ByteWriter } from './bytes';
import { BASIS_OF, DEFAULT_OBJECTIVES, ENDPOINT_CLASSES } from './endpointClass';
import { createHistogram, type Histogram, mergeHistogram, readHistogram, record, writeHistogram } from './histogram';
import { evidenceOf, gapUs, type TimedRequest, unattributedUs, waitUs } from './request';
import { addToSample, createSample, encodeSample, mergeSample, readSample, type Sample } from './sample';
import { EVIDENCES, MEASURED_TERMS, type Outcome, TERMS, type Vantage } from './terms';

/** Stored as indexes: append only. */
export const FAMILIES = ['duration', 'terms', 'anatomyE2e', 'anatomyTtft', 'sampleE2e', 'sampleTtft'] as const;
export type Family = (typeof FAMILIES)[number];
export const GROUPINGS = [
  'all',
  'endpoint',
  'clientRegion',
  'serviceRegion',
  'endpointClientRegion',
  'regionPair',
  'full',
] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const TIERS = ['5min', 'hour', 'day'] as const;
export type Tier = (typeof TIERS)[number];

/** Dimensions that a grouping may drop, in key order. */
export const KEY_DIMENSIONS = [
  'endpoint',
  'clientRegion',
  'serviceRegion',
  'provider',
  'model',
  'modelRegion',
  'version',
] as const;
export type KeyDimension = (typeof KEY_DIMENSIONS)[number];

export const DIMENSIONS_OF: Record<Grouping, readonly KeyDimension[]> = {
  all: [],
  endpoint: ['endpoint'],
  clientRegion: ['clientRegion'],
  serviceRegion: ['serviceRegion'],
  endpointClientRegion: ['endpoint', 'clientRegion'],
  regionPair: ['clientRegion', 'serviceRegion'],
  full: KEY_DIMENSIONS,
};

/** Whether a grouping has this tier and family at all. */
export function isStored(grouping: Grouping, tier: Tier, family: Family): boolean {
  if (family.startsWith('sample')) return grouping === 'endpointClientRegion' && tier !== '5min';
  if (family.startsWith('anatomy') && grouping === 'full') return false;
  return tier !== '5min' || grouping === 'all' || grouping === 'endpoint' || grouping === 'clientRegion';
}

/** undefined: dropped by the grouping; null: not told. */
export type CellKey = { [D in KeyDimension]?: string | null } & {
  vantage: Vantage;
  environment: string | null;
  outcome: Outcome;
  cached: boolean;
};

const SEPARATOR = '\u001f';
const ESCAPE = '\u001b';
const NOT_TOLD = '\u0001';
const DROPPED = '\u0002';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
const RESERVED = /[\u0001\u0002\u001b\u001f]/g;

const part = (value: string | null | undefined) =>
  value === undefined
    ? DROPPED
    : value === null
      ? NOT_TOLD
      : value.replace(RESERVED, (c) => ESCAPE + String.fromCharCode(c.charCodeAt(0) + 64));

function unpart(text: string): string | null | undefined {
  if (text === DROPPED) return undefined;
  if (text === NOT_TOLD) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character itself
  return text.replace(/\u001b(.)/g, (_, c: string) => String.fromCharCode(c.charCodeAt(0) - 64));
}

/** Text of a key; sorts by endpoint, then client region. */
export function formatKey(key: CellKey): string {
  return [
    ...KEY_DIMENSIONS.map((d) => part(key[d])),
    key.vantage,
    part(key.environment),
    key.outcome,
    key.cached ? '1' : '0',
  ].join(SEPARATOR);
}

export function parseKey(text: string): CellKey {
  const parts = text.split(SEPARATOR);
  const key: Partial<CellKey> = {};
  KEY_DIMENSIONS.forEach((dimension, i) => {
    const value = unpart(parts[i]!);
    if (value !== undefined) key[dimension] = value;
  });
  const [vantage, environment, outcome, cached] = parts.slice(KEY_DIMENSIONS.length);
  return {
    ...key,
    vantage: vantage as Vantage,
    environment: unpart(environment!) ?? null,
    outcome: outcome as Outcome,
    cached: cached === '1',
  };
}

/** The first characters of every key with these leading dimensions. */
export function keyPrefix(endpoint: string, clientRegion?: string | null): string {
  return part(endpoint) + SEPARATOR + (clientRegion === undefined ? '' : part(clientRegion) + SEPARATOR);
}

/** The key of a request with all its dimensions. */
export function fullKey(request: Pick<TimedRequest, 'dims' | 'outcome' | 'cache'>): CellKey {
  const { endpoint, clientRegion, serviceRegion, provider, model, modelRegion, version } = request.dims;
  const cached = request.cache === 'response' || request.cache === 'semantic';
  return {
    ...{ endpoint, clientRegion, serviceRegion, provider, model, modelRegion, version },
    vantage: request.dims.vantage,
    environment: request.dims.environment,
    outcome: request.outcome,
    cached,
  };
}

/** The same key under a coarser grouping. */
export function coarsen(key: CellKey, grouping: Grouping): CellKey {
  const { vantage, environment, outcome, cached } = key;
  const coarse: CellKey = { vantage, environment, outcome, cached };
  for (const dimension of DIMENSIONS_OF[grouping]) coarse[dimension] = key[dimension] ?? null;
  return coarse;
}

/** Histograms of a duration cell; e2e and ttft hold the populations of `waitUs`. */
export const DURATIONS = ['e2e', 'ttft', 'model', 'gapE2e', 'gapTtft'] as const;
export type Duration = (typeof DURATIONS)[number];

/** Counts of a duration cell: requests and weights, with a first output, and tokens. */
export const COUNTS = ['n', 'weight', 'withTtft', 'weightWithTtft', 'inputTokens', 'outputTokens'] as const;
export type DurationCell = {
  family: 'duration';
  counts: number[];
  /**
   * Weight judged by the default objective of each class, exact, in the order of ENDPOINT_CLASSES: ok requests within the
   * threshold; in cells of cancelled requests those that had already waited longer (bad; the others do not count).
   */
  judged: number[];
  histograms: Histogram[];
};
export type TermsCell = { family: 'terms'; histograms: Histogram[]; evidence: number[] };
export type AnatomyCell = { family: 'anatomyE2e' | 'anatomyTtft'; anatomy: Anatomy };
export type SampleCell = { family: 'sampleE2e' | 'sampleTtft'; sample: Sample };
export type Cell = DurationCell | TermsCell | AnatomyCell | SampleCell;
export type CellOf<F extends Family> = F extends 'duration'
  ? DurationCell
  : F extends 'terms'
    ? TermsCell
    : F extends `anatomy${string}`
      ? AnatomyCell
      : SampleCell;

export function emptyCell<F extends Family>(family: F): CellOf<F>;
export function emptyCell(family: Family): Cell {
  switch (family) {
    case 'duration':
      return {
        family,
        counts: COUNTS.map(() => 0),
        judged: ENDPOINT_CLASSES.map(() => 0),
        histograms: DURATIONS.map(() => createHistogram()),
      };
    case 'terms':
      return {
        family,
        histograms: TERMS.map(() => createHistogram()),
        evidence: TERMS.flatMap(() => EVIDENCES.map(() => 0)),
      };
    case 'anatomyE2e':
    case 'anatomyTtft':
      return { family, anatomy: new Map() };
    default:
      return { family, sample: createSample() };
  }
}

function addDurations(cell: DurationCell, request: TimedRequest): void {
  const { weight, ttftUs, inputTokens, outputTokens } = request;
  const withTtft = ttftUs === null ? 0 : 1;
  const added = [1, weight, withTtft, withTtft * weight, inputTokens ?? 0, outputTokens ?? 0];
  added.forEach((count, i) => {
    cell.counts[i]! += count;
  });
  ENDPOINT_CLASSES.forEach((endpointClass, i) => {
    const wait = waitUs(request, BASIS_OF[endpointClass]);
    if (wait === null) return;
    const within = wait <= DEFAULT_OBJECTIVES[endpointClass].thresholdUs;
    const counts = request.outcome === 'ok' ? within : request.outcome === 'cancelled' && !within && ttftUs === null;
    if (counts) cell.judged[i]! += weight;
  });
  if (request.outcome === 'error') return;
  const model = request.terms[MEASURED_TERMS.indexOf('model')] ?? null;
  const values = [
    waitUs(request, 'e2e'),
    waitUs(request, 'ttft'),
    model,
    gapUs(request, 'e2e'),
    gapUs(request, 'ttft'),
  ];
  values.forEach((us, i) => {
    if (us !== null) record(cell.histograms[i]!, Math.max(0, us), weight);
  });
}

function addTerms(cell: TermsCell, request: TimedRequest): void {
  if (request.outcome === 'error') return;
  TERMS.forEach((term, i) => {
    const us = termUs(request, i);
    if (us === null) return;
    record(cell.histograms[i]!, us, request.weight);
    cell.evidence[i * EVIDENCES.length + EVIDENCES.indexOf(evidenceOf(request, term))]! += 1;
  });
}

function termUs(request: TimedRequest, index: number): number | null {
  const term = TERMS[index]!;
  if (term === 'unattributed') return Math.max(0, unattributedUs(request));
  if (term === 'decode') return request.decodeUs;
  return request.terms[index] ?? null;
}

/** Adds one request; what it tells nothing about is left alone. */
export function addToCell(cell: Cell, request: TimedRequest): void {
  switch (cell.family) {
    case 'duration':
      addDurations(cell, request);
      return;
    case 'terms':
      addTerms(cell, request);
      return;
    case 'anatomyE2e':
      addToAnatomy(cell.anatomy, request, 'e2e');
      return;
    case 'anatomyTtft':
      addToAnatomy(cell.anatomy, request, 'ttft');
      return;
    case 'sampleE2e':
      addToSample(cell.sample, request, 'e2e');
      return;
    case 'sampleTtft':
      addToSample(cell.sample, request, 'ttft');
      return;
  }
}

function addCounts(into: number[], other: readonly number[]): void {
  other.forEach((count, i) => {
    into[i]! += count;
  });
}

/** Adds all of `other` (same family) to `into`; `other` stays untouched. */
export function mergeCell(into: Cell, other: Cell): void {
  if (into.family === 'duration' && other.family === 'duration') {
    addCounts(into.counts, other.counts);
    addCounts(into.judged, other.judged);
    into.histograms.forEach((h, i) => {
      mergeHistogram(h, other.histograms[i]!);
    });
  } else if (into.family === 'terms' && other.family === 'terms') {
    into.histograms.forEach((h, i) => {
      mergeHistogram(h, other.histograms[i]!);
    });
    addCounts(into.evidence, other.evidence);
  } else if ('anatomy' in into && 'anatomy' in other) mergeAnatomy(into.anatomy, other.anatomy);
  else if ('sample' in into && 'sample' in other) mergeSample(into.sample, other.sample);
  else throw new Error(`cells of ${into.family} and ${other.family} do not merge`);
}

/** True when nothing was ever added: such cells are not stored. */
export function isEmpty(cell: Cell): boolean {
  if (cell.family === 'duration') return cell.counts[0] === 0;
  if (cell.family === 'terms') return cell.histograms.every((h) => h.n === 0);
  return 'anatomy' in cell ? cell.anatomy.size === 0 : cell.sample.n === 0;
}

export function encodeCell(cell: Cell): Uint8Array {
  if ('anatomy' in cell) return encodeAnatomy(cell.anatomy);
  if ('sample' in cell) return encodeSample(cell.sample);
  const writer = new ByteWriter();
  const numbers = cell.family === 'duration' ? [...cell.counts, ...cell.judged] : cell.evidence;
  for (const number of numbers) writer.signed(number);
  for (const histogram of cell.histograms) writeHistogram(writer, histogram);
  return writer.bytes();
}

export function decodeCell<F extends Family>(family: F, bytes: Uint8Array): CellOf<F>;
export function decodeCell(family: Family, bytes: Uint8Array): Cell {
  const reader = new ByteReader(bytes);
  switch (family) {
    case 'duration':
      return {
        family,
        counts: COUNTS.map(() => reader.signed()),
        judged: ENDPOINT_CLASSES.map(() => reader.signed()),
        histograms: DURATIONS.map(() => readHistogram(reader)),
      };
    case 'terms': {
      const evidence = TERMS.flatMap(() => EVIDENCES.map(() => reader.signed()));
      return { family, evidence, histograms: TERMS.map(() => readHistogram(reader)) };
    }
    case 'anatomyE2e':
    case 'anatomyTtft':
      return { family, anatomy: readAnatomy(reader) };
    default:
      return { family, sample: readSample(reader, MEASURED_TERMS.length) };
  }
}
