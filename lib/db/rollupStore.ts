// Rows of `rollup`: encoded cells in blocks, one part a fold batch and (grouping, tier, family, period).

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { type Block, cellId, packBlocks, unpackBlock } from '../core/block';
import {
  type Cell,
  emptyCell,
  encodeCell,
  FAMILIES,
  type Family,
  GROUPINGS,
  type Grouping,
  isEmpty,
  mergeStored,
  TIERS,
  type Tier,
} from '../core/cell';
import { Merger } from '../core/mergeEncoded';
import { arrayLiteral } from './arrayLiteral';
import { bytesArray, numberArray, textArray } from './binaryArray';
import { deflateBody, openBody } from './blockBody';
import { keyTexts, saveCellKeys } from './cellKeys';
import { pool } from './pool';

/** Where parts stand side by side. */
export type Place = { grouping: Grouping; tier: Tier; family: Family; periodS: number };
/** Cells by key, encoded already or not. */
export type Part = Place & { cells: ReadonlyMap<string, Cell | Uint8Array> };

/** Parts of one level are merged into one of the next when this many stand side by side. */
const FAN_IN = 16;
const ROWS_A_STATEMENT = 500;
/** Level of the one part of a period that is over: deflated, and never merged up. */
export const FINISHED = 99;

/** grouping, tier, family, period, part, block, level, first and last cell, body. */
type Row = [number, number, number, number, string, number, number, string, string, Uint8Array];

function rowsOf(part: Part, level: number): Row[] {
  const encoded = new Map<string, Uint8Array>();
  for (const [key, cell] of part.cells) {
    if (cell instanceof Uint8Array) encoded.set(key, cell);
    else if (!isEmpty(cell)) encoded.set(key, encodeCell(cell));
  }
  const partId = uuidv7();
  const key = [GROUPINGS.indexOf(part.grouping), TIERS.indexOf(part.tier), FAMILIES.indexOf(part.family)] as const;
  return packBlocks(encoded).map((block, i) => [
    ...key,
    part.periodS,
    partId,
    i,
    level,
    block.firstCell,
    block.lastCell,
    level === FINISHED ? deflateBody(block.body) : block.body,
  ]);
}

/** Writes parts at a level. */
export async function insertParts(
  client: PoolClient,
  projectId: string,
  { parts, level }: { parts: Iterable<Part>; level: number },
): Promise<void> {
  const all = [...parts];
  await saveCellKeys(client, projectId, new Set(all.flatMap((part) => [...part.cells.keys()])));
  await insertRows(
    client,
    projectId,
    all.flatMap((part) => rowsOf(part, level)),
  );
}

/** As arrays in binary form: a list of 5,000 parameters took the server longer to parse and plan than to store. */
const INSERT = `INSERT INTO rollup (project_id, shard_key, grouping, tier, family, period, part_id, block, level,
    first_cell, last_cell, body)
  SELECT $1, 0, r.* FROM unnest($2::smallint[], $3::smallint[], $4::smallint[], $5::bigint[], $6::uuid[],
    $7::integer[], $8::smallint[], $9::text[], $10::text[], $11::bytea[]) AS r`;

async function insertRows(client: PoolClient, projectId: string, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
    const some = rows.slice(at, at + ROWS_A_STATEMENT);
    const column = <I extends keyof Row>(i: I) => some.map((row) => row[i]);
    await client.query({
      ...{ name: 'rollup insert', text: INSERT },
      values: [
        projectId,
        numberArray('smallint[]', column(0)),
        numberArray('smallint[]', column(1)),
        numberArray('smallint[]', column(2)),
        numberArray('bigint[]', column(3)),
        arrayLiteral(column(4)),
        numberArray('integer[]', column(5)),
        numberArray('smallint[]', column(6)),
        textArray(column(7)),
        textArray(column(8)),
        bytesArray(column(9)),
      ],
    });
  }
}

/** Merges the cells of a stored block into `into`, by cell id; `keep` says which. */
export function mergeBlock(
  into: Map<number, Cell>,
  block: { family: Family; tier: Tier; body: Uint8Array },
  keep?: (id: number) => boolean,
): void {
  for (const [id, bytes] of unpackBlock(openBody(block.body), keep)) {
    let cell = into.get(id);
    if (cell === undefined) {
      cell = emptyCell(block.family, block.tier);
      into.set(id, cell);
    }
    mergeStored(cell, bytes);
  }
}

type Stack = { grouping: number; tier: number; family: number; period: string; level: number | null };

async function mergeStack(client: PoolClient, projectId: string, stack: Stack): Promise<void> {
  const { rows } = await client.query<{ body: Buffer }>(
    `DELETE FROM rollup WHERE project_id = $1 AND shard_key = 0 AND grouping = $2 AND tier = $3 AND family = $4
       AND period = $5 AND ($6::smallint IS NULL OR level = $6) RETURNING body`,
    [projectId, stack.grouping, stack.tier, stack.family, stack.period, stack.level],
  );
  const [family, tier] = [FAMILIES[stack.family]!, TIERS[stack.tier]!];
  const stored = new Map<number, Uint8Array[]>();
  for (const { body } of rows) {
    for (const [id, bytes] of unpackBlock(openBody(body))) {
      const known = stored.get(id);
      if (known) known.push(bytes);
      else stored.set(id, [bytes]);
    }
  }
  const texts = await keyTexts(client, projectId, new Set(stored.keys()));
  const merger = new Merger();
  const cells = new Map<string, Uint8Array>();
  for (const [id, bodies] of stored) {
    // What stands alone is in its merged form
    const merged = bodies.length === 1 ? bodies[0]! : merger.merge(family, tier, bodies);
    if (merged !== null) cells.set(texts.get(id)!, merged);
  }
  const part: Part = { grouping: GROUPINGS[stack.grouping]!, tier, family, periodS: Number(stack.period), cells };
  await insertParts(client, projectId, { parts: [part], level: stack.level === null ? FINISHED : stack.level + 1 });
}

/**
 * Merges wherever so many parts of one level stand side by side in the given places. The look-up is LATERAL so that each
 * place is one walk of the primary key, however much the project has stored.
 */
export async function compactParts(client: PoolClient, projectId: string, places: readonly Place[]): Promise<void> {
  let open = places.map((p) => ({
    grouping: GROUPINGS.indexOf(p.grouping),
    tier: TIERS.indexOf(p.tier),
    family: FAMILIES.indexOf(p.family),
    period: String(p.periodS),
  }));
  while (open.length > 0) {
    const { rows } = await client.query<Stack>(
      `SELECT p.grouping, p.tier, p.family, p.period, full_stack.level
       FROM unnest($2::smallint[], $3::smallint[], $4::smallint[], $5::bigint[]) AS p(grouping, tier, family, period)
       CROSS JOIN LATERAL (
         SELECT r.level FROM rollup r
         WHERE r.project_id = $1 AND r.shard_key = 0 AND r.grouping = p.grouping AND r.tier = p.tier
           AND r.family = p.family AND r.period = p.period
           AND r.level < ${FINISHED}
         GROUP BY r.level HAVING count(DISTINCT r.part_id) >= ${FAN_IN}) AS full_stack`,
      [
        projectId,
        open.map((p) => p.grouping),
        open.map((p) => p.tier),
        open.map((p) => p.family),
        open.map((p) => p.period),
      ],
    );
    for (const stack of rows) await mergeStack(client, projectId, stack);
    open = rows;
  }
}

/** Merges all parts of everything into one each: the canonical form, in which a rebuild is equal byte for byte. */
export async function compactEverything(client: PoolClient, projectId: string): Promise<void> {
  const { rows } = await client.query<Stack>(
    `SELECT grouping, tier, family, period, NULL AS level FROM rollup WHERE project_id = $1 AND shard_key = 0
      GROUP BY grouping, tier, family, period HAVING count(DISTINCT part_id) > 1 OR min(level) < ${FINISHED}`,
    [projectId],
  );
  for (const stack of rows) await mergeStack(client, projectId, stack);
}

/** Deletes all parts of periods that begin at `fromS` (s since the epoch) or later. */
export async function deleteParts(client: PoolClient, projectId: string, fromS: number): Promise<void> {
  const from = Number.isFinite(fromS) ? String(fromS) : null;
  await client.query(
    'DELETE FROM rollup WHERE project_id = $1 AND shard_key = 0 AND ($2::bigint IS NULL OR period >= $2)',
    [projectId, from],
  );
}

/** A cell where it is stored. */
export type CellPlace = Place & { key: string };

const namesOf = (places: readonly CellPlace[]) => [
  places.map((p) => GROUPINGS.indexOf(p.grouping)),
  places.map((p) => TIERS.indexOf(p.tier)),
  places.map((p) => FAMILIES.indexOf(p.family)),
  places.map((p) => String(p.periodS)),
  places.map((p) => p.key),
];

/** The cells as stored, all parts merged, in the order of `places`; null where there is none. */
export async function storedCells(
  client: PoolClient,
  projectId: string,
  places: readonly CellPlace[],
): Promise<(Cell | null)[]> {
  const { rows } = await client.query<{ at: string; body: Buffer }>(
    `SELECT w.at, r.body
     FROM unnest($2::smallint[], $3::smallint[], $4::smallint[], $5::bigint[], $6::text[])
       WITH ORDINALITY AS w(grouping, tier, family, period, cell, at)
     JOIN rollup r ON r.project_id = $1 AND r.shard_key = 0 AND r.grouping = w.grouping AND r.tier = w.tier
       AND r.family = w.family AND r.period = w.period AND r.first_cell <= w.cell AND r.last_cell >= w.cell`,
    [projectId, ...namesOf(places)],
  );
  const cells: (Cell | null)[] = places.map(() => null);
  for (const { at, body } of rows) {
    const i = Number(at) - 1;
    const { family, tier, key } = places[i]!;
    const wanted = cellId(key);
    for (const [, bytes] of unpackBlock(openBody(body), (id) => id === wanted)) {
      cells[i] ??= emptyCell(family, tier);
      mergeStored(cells[i]!, bytes);
    }
  }
  return cells;
}

/** What was added since a place was finished is merged into it when it is this share of it, or this many parts. */
const REFINISH_SHARE = 1 / 8;
const REFINISH_PARTS = 32;

/** The places of these periods that are not in their canonical form, and not nearly. */
export async function unfinishedPlaces(
  projectId: string,
  periods: readonly { tier: Tier; startS: number }[],
): Promise<Place[]> {
  const { rows } = await pool().query<Stack>(
    `SELECT r.grouping, r.tier, r.family, r.period
     FROM unnest($2::smallint[], $3::bigint[]) AS p(tier, period)
     CROSS JOIN generate_series(0, ${GROUPINGS.length - 1}) AS g(grouping)
     CROSS JOIN generate_series(0, ${FAMILIES.length - 1}) AS f(family)
     CROSS JOIN LATERAL (
       SELECT r.grouping, r.tier, r.family, r.period FROM rollup r
       WHERE r.project_id = $1 AND r.shard_key = 0 AND r.grouping = g.grouping AND r.tier = p.tier
         AND r.family = f.family AND r.period = p.period
       GROUP BY r.grouping, r.tier, r.family, r.period
       HAVING count(*) FILTER (WHERE r.level < ${FINISHED}) >= ${REFINISH_PARTS}
         OR coalesce(sum(length(r.body)) FILTER (WHERE r.level < ${FINISHED}), 0)
           > ${REFINISH_SHARE} * coalesce(sum(length(r.body)) FILTER (WHERE r.level = ${FINISHED}), 0)
     ) AS r`,
    [projectId, periods.map((p) => TIERS.indexOf(p.tier)), periods.map((p) => p.startS)],
  );
  return rows.map((row) => ({
    ...{ grouping: GROUPINGS[row.grouping]!, tier: TIERS[row.tier]!, family: FAMILIES[row.family]! },
    periodS: Number(row.period),
  }));
}

/** Merges all parts of one place into their canonical form. */
export async function mergePlace(client: PoolClient, projectId: string, place: Place): Promise<void> {
  const stack = {
    grouping: GROUPINGS.indexOf(place.grouping),
    tier: TIERS.indexOf(place.tier),
    family: FAMILIES.indexOf(place.family),
    period: String(place.periodS),
    level: null,
  };
  await mergeStack(client, projectId, stack);
}

type BlockRow = { grouping: number; family: number; part_id: string; block: number; body: Buffer };

/**
 * Takes cells (of every family) out of the parts of one tier and period; the blocks that held them are written anew
 * without them.
 */
export async function deleteCells(
  client: PoolClient,
  projectId: string,
  cells: { tier: Tier; periodS: number; keys: ReadonlyMap<Grouping, ReadonlySet<string>> },
): Promise<void> {
  const wanted = [...cells.keys].flatMap(([grouping, keys]) => [...keys].map((key) => ({ grouping, key })));
  const at = [projectId, TIERS.indexOf(cells.tier), cells.periodS];
  const { rows } = await client.query<BlockRow>(
    `SELECT DISTINCT r.grouping, r.family, r.part_id, r.block, r.body
     FROM unnest($4::smallint[], $5::text[]) AS w(grouping, cell)
     CROSS JOIN generate_series(0, ${FAMILIES.length - 1}) AS f(family)
     CROSS JOIN LATERAL (
       SELECT * FROM rollup r WHERE r.project_id = $1 AND r.shard_key = 0 AND r.grouping = w.grouping AND r.tier = $2
         AND r.family = f.family AND r.period = $3 AND w.cell >= r.first_cell AND w.cell <= r.last_cell
     ) AS r`,
    [...at, wanted.map((w) => GROUPINGS.indexOf(w.grouping)), wanted.map((w) => w.key)],
  );
  const dropped = new Map([...cells.keys].map(([grouping, keys]) => [grouping, new Set([...keys].map(cellId))]));
  const left: { row: BlockRow; block: Block }[] = [];
  for (const row of rows) {
    const gone = dropped.get(GROUPINGS[row.grouping]!)!;
    const byId = new Map(unpackBlock(openBody(row.body), (id) => !gone.has(id)));
    const texts = await keyTexts(client, projectId, new Set(byId.keys()));
    const [block] = packBlocks(new Map([...byId].map(([id, bytes]) => [texts.get(id)!, bytes])));
    if (block !== undefined) left.push({ row, block });
  }
  await client.query(
    `DELETE FROM rollup WHERE project_id = $1 AND shard_key = 0 AND tier = $2 AND period = $3
       AND (grouping, family, part_id, block) IN
         (SELECT g, f, p, b FROM unnest($4::smallint[], $5::smallint[], $6::uuid[], $7::integer[]) AS gone(g, f, p, b))`,
    [
      ...at,
      rows.map((r) => r.grouping),
      rows.map((r) => r.family),
      rows.map((r) => r.part_id),
      rows.map((r) => r.block),
    ],
  );
  const level = 0;
  const kept = left.map(
    ({ row, block: { firstCell, lastCell, body } }): Row => [
      ...([row.grouping, TIERS.indexOf(cells.tier), row.family, cells.periodS, row.part_id, row.block, level] as const),
      ...([firstCell, lastCell, body] as const),
    ],
  );
  await insertRows(client, projectId, kept);
}
