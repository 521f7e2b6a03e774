// The tables of the Models page as CSV: the same answer, the same display rule. What has no value is empty.

import { csvLine } from '../core/csv';
import type { Value } from '../core/estimate';
import type { Share } from '../core/models/proportion';
import type { Amount } from '../core/models/weighed';
import type { Models } from './loadModels';
import { type HostName, type ModelCounts, modelText } from './modelCells';
import type { ModelsTable } from './parseModels';

type Field = string | number | null;
/** Columns as name → what stands in a row. */
type Columns<Row> = Record<string, (row: Row) => Field>;

const ofValue = <Row>(name: string, of: (row: Row) => Value): Columns<Row> => ({
  [`${name}_ms`]: (row) => of(row).ms,
  [`${name}_low_ms`]: (row) => of(row).lowMs,
  [`${name}_high_ms`]: (row) => of(row).highMs,
});
type Bounded = { value: number; low: number; high: number } | Amount | null;
const ofBounded = <Row>(name: string, of: (row: Row) => Bounded): Columns<Row> => ({
  [name]: (row) => of(row)?.value ?? null,
  [`${name}_low`]: (row) => of(row)?.low ?? null,
  [`${name}_high`]: (row) => of(row)?.high ?? null,
});
const ofShare = <Row>(name: string, of: (row: Row) => Share): Columns<Row> =>
  ofBounded(name, (row) => {
    const share = of(row);
    return share.share === null ? null : { value: share.share, low: share.low, high: share.high };
  });
type Difference = { difference: number; low: number; high: number } | null;
const ofDifference = <Row>(name: string, of: (row: Row) => Difference): Columns<Row> =>
  ofBounded(name, (row) => {
    const difference = of(row);
    return difference && { ...difference, value: difference.difference };
  });

const COUNTED: Columns<ModelCounts> = {
  n: (row) => row.n,
  ok: (row) => row.outcomes.ok,
  errors: (row) => row.outcomes.error,
  timeouts: (row) => row.outcomes.timeout,
  cancelled: (row) => row.outcomes.cancelled,
  ...ofShare<ModelCounts>('success', (row) => row.success),
  ...ofValue<ModelCounts>('wait_p50', (row) => row.wait.p50),
  ...ofValue<ModelCounts>('wait_p99', (row) => row.wait.p99),
  ...ofValue<ModelCounts>('ttft_p50', (row) => row.ttft.p50),
  ...ofValue<ModelCounts>('ttft_p99', (row) => row.ttft.p99),
  ...ofBounded<ModelCounts>('quality', (row) => row.quality),
  input_tokens_mean: (row) => row.inputTokens,
  output_tokens_mean: (row) => row.outputTokens,
};

type Row<Key extends 'models' | 'hosts' | 'swaps' | 'hostPairs' | 'bins' | 'causes'> = Models[Key][number];
type WaitBin = NonNullable<Models['abandonment']>['bins'][number];

const MODELS: Columns<Row<'models'>> = {
  provider: (row) => row.provider,
  model: (row) => row.model,
  ...COUNTED,
  ...ofValue<Row<'models'>>('tpot_p50', (row) => row.tpot.p50),
  ...ofValue<Row<'models'>>('tpot_p99', (row) => row.tpot.p99),
  ...ofBounded<Row<'models'>>('tokens_per_second_p50', (row) => row.tokensPerSecond),
};
const HOSTS: Columns<Row<'hosts'>> = {
  provider: (row) => row.provider,
  model: (row) => row.model,
  model_region: (row) => row.modelRegion,
  ...COUNTED,
};
const SWAPS: Columns<Row<'swaps'>> = {
  candidate: modelText,
  recommended: (row) => (row.isRecommended ? 'yes' : 'no'),
  reasons: (row) => row.reasons.join(' '),
  matched_share: (row) => row.matchedShare,
  ...ofValue<Row<'swaps'>>('gain_p50', (row) => row.p50.gain),
  ...ofValue<Row<'swaps'>>('gain_p99', (row) => row.p99.gain),
  ...ofDifference<Row<'swaps'>>('success_difference', (row) => row.success),
  ...ofDifference<Row<'swaps'>>('quality_difference', (row) => row.quality),
};
const host = (name: HostName) => `${name.provider ?? ''} ${name.modelRegion ?? ''}`.trim();
const MATCHED: Columns<Row<'hostPairs'>> = {
  model: (row) => row.reference.model,
  reference: (row) => host(row.reference),
  host: (row) => host(row.candidate),
  matched_on: (row) => row.matchedOn.join(' '),
  reference_matched_share: (row) => row.referenceShare,
  matched_share: (row) => row.candidateShare,
  ...ofValue<Row<'hostPairs'>>('difference_p50', (row) => row.p50.difference),
  ...ofValue<Row<'hostPairs'>>('difference_p99', (row) => row.p99.difference),
};
const ABANDONMENT: Columns<WaitBin> = {
  from_ms: (row) => row.fromMs,
  to_ms: (row) => row.toMs,
  waiting: (row) => row.waiting,
  left: (row) => row.left,
  ended: (row) => row.ended,
  ...ofShare<WaitBin>('left_share', (row) => row.leftShare),
  ...ofBounded<WaitBin>('left_per_second', (row) => row.perSecond),
};
const BINS: Columns<Row<'bins'>> = {
  model: (row) => row.model,
  by: (row) => row.by,
  from: (row) => row.from,
  to: (row) => row.to,
  n: (row) => row.n,
  ...ofValue<Row<'bins'>>('p50', (row) => row.p50),
  ...ofValue<Row<'bins'>>('p95', (row) => row.p95),
};
type CauseLine = Row<'causes'> & Row<'causes'>['causes'][number];
const CAUSES: Columns<CauseLine> = {
  kind: (row) => row.kind,
  from: (row) => row.from,
  to: (row) => row.to,
  cause: (row) => row.cause,
  claimed: (row) => (row.isClaimed ? 'yes' : 'no'),
  ...ofValue<CauseLine>('difference_p50', (row) => row.difference),
};
type CacheLine = { cache: string; share: Share; other: Value; hit: Value; difference: Value };
const CACHE: Columns<CacheLine> = {
  cache: (row) => row.cache,
  ...ofShare<CacheLine>('share', (row) => row.share),
  ...ofValue<CacheLine>('without_p50', (row) => row.other),
  ...ofValue<CacheLine>('with_p50', (row) => row.hit),
  ...ofValue<CacheLine>('difference_p50', (row) => row.difference),
};

function write<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const lines = rows.map((row) => Object.values(columns).map((field) => field(row)));
  return [Object.keys(columns), ...lines].map(csvLine).join('');
}

function cacheLines({ responseCache, promptCache }: Models): CacheLine[] {
  const lines: CacheLine[] = [];
  if (responseCache !== null) {
    const { share, other, hit, p50Difference } = responseCache;
    lines.push({ cache: 'response', share, other: other.p50, hit: hit.p50, difference: p50Difference });
  }
  if (promptCache !== null && promptCache.toldShare !== null) {
    const { hitShare, without, half, difference } = promptCache;
    lines.push({ cache: 'prompt', share: hitShare, other: without, hit: half, difference });
  }
  return lines;
}

/** One line a row of the table asked for. */
export function modelsCsv(models: Models, table: ModelsTable): string {
  if (table === 'models') return write(MODELS, models.models);
  if (table === 'hosts') return write(HOSTS, models.hosts);
  if (table === 'swaps') return write(SWAPS, models.swaps);
  if (table === 'matched') return write(MATCHED, models.hostPairs);
  if (table === 'abandonment') return write(ABANDONMENT, models.abandonment?.bins ?? []);
  if (table === 'bins') return write(BINS, models.bins);
  if (table === 'cache') return write(CACHE, cacheLines(models));
  const lines = models.causes.flatMap((cause) => cause.causes.map((part) => ({ ...cause, ...part })));
  return write(CAUSES, lines);
}
