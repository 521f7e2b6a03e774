// Cells: what a roll-up keeps of the requests of one combination of dimensions, in families that are read apart.
// Every cell is mergeable, its encoding canonical. Vantage, environment, outcome and cache hit are never dropped from a
// key: they are populations that must not be pooled by accident.

import { type Anatomy, addToAnatomy, encodeAnatomy, mergeAnatomy, mergeStoredAnatomy } from './anatomy';
import { ByteReader, ByteWriter } from './bytes';
import { BASIS_OF, DEFAULT_OBJECTIVES, ENDPOINT_CLASSES } from './endpointClass';
import {
  createHistogram,
  type Histogram,
  isEmptyHistogram,
  mergeHistogram,
  mergeStoredHistogram,
  negateHistogram,
  record,
  writeHistogram,
} from './histogram';
import { evidenceOf, gapUs, type TimedRequest, unattributedUs, waitUs } from './request';
import {
  addToSample,
  createSample,
  DAY_LIMITS,
  HOUR_LIMITS,
  mergeSample,
  type Sample,
  type SampleLimits,
  THIN_LIMITS,
} from './sample';
import { decodeSample, encodeSample } from './sampleCodec';
import { EVIDENCES, MEASURED_TERMS, type Outcome, TERMS, type Vantage } from './terms';

/** Histograms of what `waitUs` says of each basis, of the model's time, and of the rest of the wait. */
export const DURATIONS = ['e2e', 'ttft', 'model', 'gapE2e', 'gapTtft'] as const;
export type Duration = (typeof DURATIONS)[number];

/** What is read apart. Stored as indexes: append only. */
export const FAMILIES = [
  'counts',
  ...DURATIONS,
  'terms',
  'anatomyE2e',
  'anatomyTtft',
  'sampleE2e',
  'sampleTtft',
  'thinE2e',
  'thinTtft',
  'quality',
] as const;
export type Family = (typeof FAMILIES)[number];
/** From the smallest to the largest, so that the first that knows what is asked for is read. */
export const GROUPINGS = [
  'all',
  'endpoint',
  'clientRegion',
  'endpointClientRegion',
  'regionPair',
  'endpointServiceRegion',
  'endpointModel',
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
  endpointClientRegion: ['endpoint', 'clientRegion'],
  regionPair: ['clientRegion', 'serviceRegion'],
  endpointServiceRegion: ['endpoint', 'serviceRegion'],
  endpointModel: ['endpoint', 'provider', 'model'],
  full: KEY_DIMENSIONS,
};

const FINE_GROUPINGS: readonly Grouping[] = ['all', 'endpoint', 'clientRegion'];
const ANATOMY_GROUPINGS: readonly Grouping[] = ['endpoint', 'endpointClientRegion'];
const TERM_GROUPINGS: readonly Grouping[] = [
  'endpoint',
  'endpointClientRegion',
  'regionPair',
  'endpointServiceRegion',
  'endpointModel',
  'full',
];

/** Whether a grouping has this tier and family at all: only what some page or answer asks for. */
export function isStored(grouping: Grouping, tier: Tier, family: Family): boolean {
  switch (family) {
    case 'counts':
    case 'e2e':
    case 'ttft':
      return tier !== '5min' || FINE_GROUPINGS.includes(grouping);
    case 'model':
    case 'gapE2e':
    case 'gapTtft':
    case 'terms':
      return tier !== '5min' && TERM_GROUPINGS.includes(grouping);
    case 'anatomyE2e':
    case 'anatomyTtft':
      return tier !== '5min' && ANATOMY_GROUPINGS.includes(grouping);
    case 'sampleE2e':
    case 'sampleTtft':
      return tier !== '5min' && grouping === 'endpointClientRegion';
    case 'quality':
      return tier !== '5min' && (grouping === 'endpointModel' || grouping === 'full');
    default:
      return tier === 'day' && grouping === 'endpointClientRegion';
  }
}

/** What a sample of this family keeps. */
export function sampleLimits(family: Family, tier: Tier): SampleLimits {
  if (family === 'thinE2e' || family === 'thinTtft') return THIN_LIMITS;
  return tier === 'hour' ? HOUR_LIMITS : DAY_LIMITS;
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

/** Counts of a cell: requests and weights, with a first output, and tokens told (how many requests told them is n). */
export const COUNTS = [
  'n',
  'weight',
  'withTtft',
  'weightWithTtft',
  'inputTokens',
  'outputTokens',
  'withInputTokens',
  'withOutputTokens',
] as const;
export type Count = (typeof COUNTS)[number];

export type CountsCell = {
  family: 'counts';
  counts: number[];
  /**
   * Weight judged by the default objective of each class, exact, in the order of ENDPOINT_CLASSES: ok requests within the
   * threshold; in cells of cancelled requests those that had already waited longer (bad; the others do not count).
   */
  judged: number[];
};
/** What `quality` sums, exactly: requests that tell one, their weights, and quality (thousandths) times weight. */
export const QUALITY_SUMS = ['n', 'weight', 'weightSquared', 'quality', 'qualitySquared'] as const;
export type QualityCell = { family: 'quality'; sums: number[] };
export type HistogramCell = { family: Duration; histogram: Histogram };
export type TermsCell = { family: 'terms'; histograms: Histogram[]; evidence: number[] };
export type AnatomyCell = { family: 'anatomyE2e' | 'anatomyTtft'; anatomy: Anatomy };
export type SampleCell = { family: 'sampleE2e' | 'sampleTtft' | 'thinE2e' | 'thinTtft'; sample: Sample };
export type Cell = CountsCell | HistogramCell | TermsCell | AnatomyCell | SampleCell | QualityCell;
export type CellOf<F extends Family> = F extends 'counts'
  ? CountsCell
  : F extends Duration
    ? HistogramCell
    : F extends 'terms'
      ? TermsCell
      : F extends `anatomy${string}`
        ? AnatomyCell
        : F extends 'quality'
          ? QualityCell
          : SampleCell;

/** A cell without requests; what a sample keeps depends on its tier. */
export function emptyCell<F extends Family>(family: F, tier?: Tier): CellOf<F>;
export function emptyCell(family: Family, tier: Tier = 'day'): Cell {
  switch (family) {
    case 'counts':
      return { family, counts: COUNTS.map(() => 0), judged: ENDPOINT_CLASSES.map(() => 0) };
    case 'terms':
      return {
        family,
        histograms: TERMS.map(() => createHistogram()),
        evidence: TERMS.flatMap(() => EVIDENCES.map(() => 0)),
      };
    case 'quality':
      return { family, sums: QUALITY_SUMS.map(() => 0) };
    case 'anatomyE2e':
    case 'anatomyTtft':
      return { family, anatomy: new Map() };
    case 'sampleE2e':
    case 'sampleTtft':
    case 'thinE2e':
    case 'thinTtft':
      return { family, sample: createSample(sampleLimits(family, tier)) };
    default:
      return { family, histogram: createHistogram() };
  }
}

function addCounts(cell: CountsCell, request: TimedRequest): void {
  const { weight, ttftUs, inputTokens, outputTokens } = request;
  const withTtft = ttftUs === null ? 0 : 1;
  const tokens = [inputTokens ?? 0, outputTokens ?? 0, inputTokens === null ? 0 : 1, outputTokens === null ? 0 : 1];
  addAll(cell.counts, [1, weight, withTtft, withTtft * weight, ...tokens]);
  ENDPOINT_CLASSES.forEach((endpointClass, i) => {
    const wait = waitUs(request, BASIS_OF[endpointClass]);
    if (wait === null) return;
    const within = wait <= DEFAULT_OBJECTIVES[endpointClass].thresholdUs;
    const counts = request.outcome === 'ok' ? within : request.outcome === 'cancelled' && !within && ttftUs === null;
    if (counts) cell.judged[i]! += weight;
  });
}

/** Adds what a request says of quality to five numbers; one that says nothing adds nothing. */
export function addQuality(sums: { [index: number]: number }, at: number, { quality, weight }: TimedRequest): void {
  if (quality === null) return;
  const thousandths = Math.round(quality * 1_000);
  sums[at]! += 1;
  sums[at + 1]! += weight;
  sums[at + 2]! += weight * weight;
  sums[at + 3]! += thousandths * weight;
  sums[at + 4]! += thousandths * thousandths * weight;
}

/** A duration (µs) of a request, or null when it tells nothing about it. */
function durationUs(request: TimedRequest, duration: Duration): number | null {
  switch (duration) {
    case 'e2e':
    case 'ttft':
      return waitUs(request, duration);
    case 'model':
      return request.outcome === 'error' ? null : (request.terms[MEASURED_TERMS.indexOf('model')] ?? null);
    default:
      return gapUs(request, duration === 'gapE2e' ? 'e2e' : 'ttft');
  }
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
    case 'counts':
      addCounts(cell, request);
      return;
    case 'terms':
      addTerms(cell, request);
      return;
    case 'quality':
      addQuality(cell.sums, 0, request);
      return;
    case 'anatomyE2e':
      addToAnatomy(cell.anatomy, request, 'e2e');
      return;
    case 'anatomyTtft':
      addToAnatomy(cell.anatomy, request, 'ttft');
      return;
    case 'sampleE2e':
    case 'thinE2e':
      addToSample(cell.sample, request, 'e2e');
      return;
    case 'sampleTtft':
    case 'thinTtft':
      addToSample(cell.sample, request, 'ttft');
      return;
    default: {
      const us = durationUs(request, cell.family);
      if (us !== null) record(cell.histogram, Math.max(0, us), request.weight);
    }
  }
}

function addAll(into: number[], other: readonly number[]): void {
  for (let i = 0; i < into.length; i++) into[i]! += other[i]!;
}

/** Adds all of `other` (of the same family; for a thin sample also the full one) to `into`; `other` stays untouched. */
export function mergeCell(into: Cell, other: Cell): void {
  if (into.family === 'counts' && other.family === 'counts') {
    addAll(into.counts, other.counts);
    addAll(into.judged, other.judged);
  } else if (into.family === 'quality' && other.family === 'quality') addAll(into.sums, other.sums);
  else if (into.family === 'terms' && other.family === 'terms') {
    into.histograms.forEach((h, i) => {
      mergeHistogram(h, other.histograms[i]!);
    });
    addAll(into.evidence, other.evidence);
  } else if ('histogram' in into && 'histogram' in other) mergeHistogram(into.histogram, other.histogram);
  else if ('anatomy' in into && 'anatomy' in other) mergeAnatomy(into.anatomy, other.anatomy);
  else if ('sample' in into && 'sample' in other) mergeSample(into.sample, other.sample);
  else throw new Error(`cells of ${into.family} and ${other.family} do not merge`);
}

const areZero = (counts: readonly number[]) => counts.every((count) => count === 0);

/**
 * True when nothing was ever added, or all of it taken away again: such cells are not stored. What was added and taken
 * may be as many without being the same, so every count is looked at.
 */
export function isEmpty(cell: Cell): boolean {
  if (cell.family === 'counts') return areZero(cell.counts) && areZero(cell.judged);
  if (cell.family === 'quality') return areZero(cell.sums);
  if (cell.family === 'terms') return areZero(cell.evidence) && cell.histograms.every(isEmptyHistogram);
  if ('histogram' in cell) return isEmptyHistogram(cell.histogram);
  return 'anatomy' in cell ? cell.anatomy.size === 0 : cell.sample.n === 0;
}

/**
 * The signed part that takes this cell away again: merged with what is stored it leaves what the others brought. Minima
 * and maxima cannot be taken away; samples neither (throws): those cells are rebuilt.
 */
export function negateCell(cell: Cell): Cell {
  const negative = (counts: readonly number[]) => counts.map((count) => 0 - count);
  if ('sample' in cell) throw new Error('a sample cannot be taken away: mark its cell for repair');
  if (cell.family === 'counts')
    return { family: cell.family, counts: negative(cell.counts), judged: negative(cell.judged) };
  if (cell.family === 'quality') return { family: cell.family, sums: negative(cell.sums) };
  if (cell.family === 'terms')
    return { ...cell, evidence: negative(cell.evidence), histograms: cell.histograms.map(negateHistogram) };
  if ('histogram' in cell) return { ...cell, histogram: negateHistogram(cell.histogram) };
  const anatomy: Anatomy = new Map();
  mergeAnatomy(anatomy, cell.anatomy, -1);
  return { family: cell.family, anatomy };
}

export function encodeCell(cell: Cell): Uint8Array {
  if ('anatomy' in cell) return encodeAnatomy(cell.anatomy);
  if ('sample' in cell) return encodeSample(cell.sample);
  const writer = new ByteWriter();
  if (cell.family === 'counts') for (const number of [...cell.counts, ...cell.judged]) writer.signed(number);
  else if (cell.family === 'quality') for (const number of cell.sums) writer.signed(number);
  else if (cell.family === 'terms') {
    for (const number of cell.evidence) writer.signed(number);
    for (const histogram of cell.histograms) writeHistogram(writer, histogram);
  } else writeHistogram(writer, cell.histogram);
  return writer.bytes();
}

/** Adds a stored cell of the same family to `into`, without building it first where that is dear. */
export function mergeStored(into: Cell, bytes: Uint8Array): void {
  const reader = new ByteReader(bytes);
  if (into.family === 'counts') {
    for (let i = 0; i < into.counts.length; i++) into.counts[i]! += reader.signed();
    for (let i = 0; i < into.judged.length; i++) into.judged[i]! += reader.signed();
  } else if (into.family === 'quality') for (let i = 0; i < into.sums.length; i++) into.sums[i]! += reader.signed();
  else if (into.family === 'terms') {
    for (let i = 0; i < into.evidence.length; i++) into.evidence[i]! += reader.signed();
    for (const histogram of into.histograms) mergeStoredHistogram(histogram, reader);
  } else if ('histogram' in into) mergeStoredHistogram(into.histogram, reader);
  else if ('anatomy' in into) mergeStoredAnatomy(into.anatomy, reader);
  else mergeSample(into.sample, decodeSample(bytes, into.sample.limits));
}

export function decodeCell<F extends Family>(family: F, tier: Tier, bytes: Uint8Array): CellOf<F>;
export function decodeCell(family: Family, tier: Tier, bytes: Uint8Array): Cell {
  const cell: Cell = emptyCell(family, tier);
  mergeStored(cell, bytes);
  return cell;
}
