// Reads of roll-ups: stored parts ∪ a live fold of what is not folded yet, all from one snapshot of the database.
//
// One read-only REPEATABLE READ transaction holds everything an answer is made of, so its numbers belong together however
// many statements it takes. Raw rows are read only where `pending` names them; a chunk never changes, so what was decoded
// once is kept.

import type { PoolClient } from 'pg';
import { cellId, unpackBlock } from '../core/block';
import { Calendar, type Period } from '../core/calendar';
import {
  type Cell,
  type CellKey,
  type CellOf,
  emptyCell,
  FAMILIES,
  type Family,
  GROUPINGS,
  type Grouping,
  keyPrefix,
  mergeStored,
  parseKey,
  TIERS,
  type Tier,
} from '../core/cell';
import { foldEncoded } from '../core/fold';
import type { SampledRequest, TimedRequest } from '../core/request';
import { openSample, type StoredSample, sampleRows } from '../core/sampleCodec';
import type { Basis } from '../core/terms';
import { openBody } from './blockBody';
import { loadCellKeys } from './cellKeys';
import { readPendingRequests } from './pendingRequests';
import { pool } from './pool';

/** Which cells of which periods. */
export type CellQuestion = {
  grouping: Grouping;
  families: readonly Family[];
  /** Half-open, µs since the epoch; snapped outward to the finest tier. */
  fromUs: number;
  toUs: number;
  finest: Tier;
  coarsest?: Tier;
  /** Only cells of these endpoints, or of these pairs, in groupings that lead with them. */
  leading?: readonly { endpoint: string; clientRegion?: string | null }[];
  keep?: (key: CellKey) => boolean;
  /** Keeps periods apart instead of merging the range. */
  byPeriod?: boolean;
};

/** One cell of each family asked for (families without requests are missing). */
export type CellSet = Map<Family, Cell>;
/** The cells of one combination of dimensions. */
export type Member = { key: CellKey; set: CellSet };

export type CellAnswer = {
  /** Period start (s) → members; a single entry 0 unless asked by period. */
  periods: Map<number, Member[]>;
  effectiveFromUs: number;
  effectiveToUs: number;
  cover: Period[];
};

/** One family's cell of a set, empty when it has no requests. */
export function cellOf<F extends Family>(set: CellSet | undefined, family: F): CellOf<F> {
  return (set?.get(family) as CellOf<F> | undefined) ?? emptyCell(family);
}

type PartRow = { family: number; tier: number; period: string; body: Buffer };
type Found = { family: Family; tier: Tier; periodS: number; id: number; key: CellKey; bytes: Uint8Array };
type Range = { cover: Period[]; fromS: number; toS: number };

// Each place is one walk of the primary key, however much the project has stored.
const partsWhere = (leading: string) => `SELECT r.family, r.tier, r.period, r.body
  FROM unnest($3::smallint[], $4::bigint[]) AS at(tier, period)
  CROSS JOIN unnest($5::smallint[]) AS wanted(family)
  CROSS JOIN LATERAL (
    SELECT family, tier, period, body FROM rollup
    WHERE project_id = $1 AND shard_key = 0 AND grouping = $2 AND tier = at.tier AND family = wanted.family
      AND period = at.period ${leading}) AS r`;

/** By how many leading cells are asked for: each compares what it must with every block, and no more. */
const PARTS = {
  all: partsWhere(''),
  one: partsWhere('AND last_cell >= $6 AND first_cell < $7'),
  some: partsWhere(`AND EXISTS (SELECT FROM unnest($6::text[], $7::text[]) AS span(low, high)
        WHERE last_cell >= span.low AND first_cell < span.high)`),
};

/** Everything one answer reads, as it was at one instant. */
export class Snapshot {
  constructor(
    private readonly client: PoolClient,
    readonly projectId: string,
    readonly calendar: Calendar,
    readonly asOf: Date,
  ) {}

  private rangeOf(question: Pick<CellQuestion, 'fromUs' | 'toUs' | 'finest' | 'coarsest'>): Range {
    const { fromUs, toUs, finest, coarsest = 'day' } = question;
    const cover = this.calendar.cover(fromUs, toUs, { finest, coarsest });
    const last = cover.at(-1)!;
    return { cover, fromS: cover[0]!.startS, toS: this.calendar.endS(last.tier, last.startS) };
  }

  /** The range (µs) after snapping outward. */
  effective(range: Pick<CellQuestion, 'fromUs' | 'toUs' | 'finest'>): {
    effectiveFromUs: number;
    effectiveToUs: number;
  } {
    const { fromS, toS } = this.rangeOf(range);
    return { effectiveFromUs: fromS * 1e6, effectiveToUs: toS * 1e6 };
  }

  /** Cells of a range, merged. */
  async read(question: CellQuestion): Promise<CellAnswer> {
    const range = this.rangeOf(question);
    const periods = new Map<number, Map<number, Member>>();
    const cellAt = (at: Pick<Found, 'periodS' | 'id' | 'key' | 'family' | 'tier'>): Cell => {
      const periodS = question.byPeriod ? at.periodS : 0;
      const members = getOrAdd(periods, periodS, () => new Map<number, Member>());
      const { set } = getOrAdd(members, at.id, () => ({ key: at.key, set: new Map() }));
      return getOrAdd(set, at.family, () => emptyCell(at.family, at.tier));
    };
    for (const found of await this.found(question, range)) mergeStored(cellAt(found), found.bytes);
    return {
      periods: new Map([...periods].map(([periodS, members]) => [periodS, [...members.values()]])),
      ...{ effectiveFromUs: range.fromS * 1e6, effectiveToUs: range.toS * 1e6, cover: range.cover },
    };
  }

  /** Whole requests of the sample tier, by cell as `groupOf` names it. */
  async readSamples<G>(question: {
    range: Pick<CellQuestion, 'fromUs' | 'toUs' | 'finest'>;
    basis: Basis;
    thin: boolean;
    leading?: CellQuestion['leading'];
    keep?: (key: CellKey) => boolean;
    groupOf: (key: CellKey) => G;
    mostRows: number;
  }): Promise<{ samples: Map<G, SampleAnswer>; effectiveFromUs: number; effectiveToUs: number }> {
    const full = question.basis === 'e2e' ? 'sampleE2e' : 'sampleTtft';
    const family: Family = question.thin ? (question.basis === 'e2e' ? 'thinE2e' : 'thinTtft') : full;
    const { range: asked, leading, keep, basis, groupOf } = question;
    const cells: CellQuestion = {
      ...asked,
      ...{ grouping: 'endpointClientRegion', families: [family] },
      ...(leading ? { leading } : {}),
      keep: (key) => key.outcome !== 'error' && (keep?.(key) ?? true),
    };
    const range = this.rangeOf(cells);
    const samples = new Map<G, StoredSample[]>();
    const add = (key: CellKey, sample: StoredSample) => {
      const group = groupOf(key);
      const known = samples.get(group);
      if (known) known.push(sample);
      else samples.set(group, [sample]);
    };
    for (const found of await this.found(cells, range)) add(found.key, openSample(found.bytes));
    return {
      samples: new Map([...samples].map(([g, some]) => [g, { basis, ...sampleRows(some, question.mostRows) }])),
      ...{ effectiveFromUs: range.fromS * 1e6, effectiveToUs: range.toS * 1e6 },
    };
  }

  /** Cells that the question accepts, not decoded: stored ones and those of what is not folded yet. */
  private async found(question: CellQuestion, range: Range): Promise<Found[]> {
    const stored = await this.stored(question, range);
    const live = await this.live(question, range);
    return live.length === 0 ? stored : [...stored, ...live];
  }

  private async stored(question: CellQuestion, range: Range): Promise<Found[]> {
    if (question.leading?.length === 0) return [];
    const lows = question.leading?.map((one) => keyPrefix(one.endpoint, one.clientRegion)) ?? null;
    const highs = lows?.map((low) => `${low}\u{10ffff}`) ?? [];
    const form = lows === null ? 'all' : lows.length === 1 ? 'one' : 'some';
    const { rows } = await this.client.query<PartRow>({
      name: `rollup-parts-${form}`, // prepared: planning took longer than reading a cell
      text: PARTS[form],
      values: [
        this.projectId,
        GROUPINGS.indexOf(question.grouping),
        range.cover.map((p) => TIERS.indexOf(p.tier)),
        range.cover.map((p) => p.startS),
        question.families.map((f) => FAMILIES.indexOf(f)),
        ...(lows === null ? [] : lows.length === 1 ? [lows[0], highs[0]] : [lows, highs]),
      ],
    });
    return this.accepted(question, rows);
  }

  private async accepted(question: CellQuestion, rows: readonly PartRow[]): Promise<Found[]> {
    const found: (Omit<Found, 'key'> & { key: CellKey | null })[] = [];
    const unknown = new Set<number>();
    let known = await loadCellKeys(this.client, this.projectId, []);
    const accepts = acceptor(question);
    const verdicts = new Map<number, boolean>();
    const keep = (id: number): boolean => {
      let verdict = verdicts.get(id);
      if (verdict === undefined) {
        const key = known.get(id);
        if (key === undefined) unknown.add(id);
        verdict = key === undefined || accepts(key.key);
        verdicts.set(id, verdict);
      }
      return verdict;
    };
    for (const row of rows) {
      const at = { family: FAMILIES[row.family]!, tier: TIERS[row.tier]!, periodS: Number(row.period) };
      for (const [id, bytes] of unpackBlock(openBody(row.body), keep))
        found.push({ ...at, id, bytes, key: known.get(id)?.key ?? null });
    }
    if (unknown.size === 0) return found as Found[];
    known = await loadCellKeys(this.client, this.projectId, unknown);
    return found.flatMap((one) => {
      if (one.key !== null) return [one as Found];
      const { key } = known.get(one.id)!;
      return accepts(key) ? [{ ...one, key }] : [];
    });
  }

  private async live(question: CellQuestion, range: Range): Promise<Found[]> {
    const requests = await this.pending(range);
    if (requests.length === 0) return [];
    const wanted = new Set(range.cover.map((p) => `${p.tier} ${p.startS}`));
    const accepts = acceptor(question);
    const parts = foldEncoded(requests, {
      calendar: this.calendar,
      groupings: [question.grouping],
      families: question.families,
      wants: (tier, periodS) => wanted.has(`${tier} ${periodS}`),
    });
    return parts.flatMap(({ family, tier, periodS, cells }) =>
      [...cells].flatMap(([text, bytes]) => {
        const key = parseKey(text);
        return accepts(key) ? [{ family, tier, periodS, id: cellId(text), key, bytes }] : [];
      }),
    );
  }

  private readonly pendingByRange = new Map<string, Promise<TimedRequest[]>>();

  private pending(range: Range): Promise<TimedRequest[]> {
    const name = `${range.fromS} ${range.toS}`;
    let requests = this.pendingByRange.get(name);
    if (requests === undefined) {
      requests = readPendingRequests(this.client, this.projectId, { fromUs: range.fromS * 1e6, toUs: range.toS * 1e6 });
      this.pendingByRange.set(name, requests);
    }
    return requests;
  }
}

export type SampleAnswer = { basis: Basis; rows: SampledRequest[]; complete: boolean };

function acceptor(question: CellQuestion): (key: CellKey) => boolean {
  const { leading, keep } = question;
  const leads = (key: CellKey) =>
    leading === undefined ||
    leading.some(
      (one) =>
        one.endpoint === key.endpoint && (one.clientRegion === undefined || one.clientRegion === key.clientRegion),
    );
  return (key) => leads(key) && (keep === undefined || keep(key));
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** Runs `work` on one snapshot of a project. */
export async function withSnapshot<T>(projectId: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ time_zone: string | null; as_of: Date }>(
      'SELECT (SELECT time_zone FROM project WHERE id = $1) AS time_zone, now() AS as_of',
      [projectId],
    );
    const result = await work(
      new Snapshot(client, projectId, new Calendar(rows[0]!.time_zone ?? 'UTC'), rows[0]!.as_of),
    );
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
