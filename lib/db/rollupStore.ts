// Rows of `rollup`: encoded cells in blocks, one part a fold batch and (grouping, tier, family, period).

import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { packBlocks, unpackBlock } from '../core/block';
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
import { keyTexts, saveCellKeys } from './cellKeys';

/** Where parts stand side by side. */
export type Place = { grouping: Grouping; tier: Tier; family: Family; periodS: number };
/** Cells by key, encoded already or not. */
export type Part = Place & { cells: ReadonlyMap<string, Cell | Uint8Array> };

/** Parts of one level are merged into one of the next when this many stand side by side. */
const FAN_IN = 8;
const ROWS_A_STATEMENT = 500;

type Row = [number, number, number, number, string, number, number, string, string, Buffer];

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
    Buffer.from(block.body),
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
  const rows = all.flatMap((part) => rowsOf(part, level));
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
    const some = rows.slice(at, at + ROWS_A_STATEMENT);
    const tuple = (i: number) => `($1, 0, ${Array.from({ length: 10 }, (_, k) => `$${i * 10 + k + 2}`).join(', ')})`;
    await client.query(
      `INSERT INTO rollup (project_id, shard_key, grouping, tier, family, period, part_id, block, level,
        first_cell, last_cell, body) VALUES ${some.map((_, i) => tuple(i)).join(', ')}`,
      [projectId, ...some.flat()],
    );
  }
}

/** Merges the cells of a stored block into `into`, by cell id; `keep` says which. */
export function mergeBlock(
  into: Map<number, Cell>,
  block: { family: Family; tier: Tier; body: Uint8Array },
  keep?: (id: number) => boolean,
): void {
  for (const [id, bytes] of unpackBlock(block.body, keep)) {
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
  const byId = new Map<number, Cell>();
  for (const { body } of rows) mergeBlock(byId, { family, tier, body });
  const texts = await keyTexts(client, projectId, new Set(byId.keys()));
  const cells = new Map([...byId].map(([id, cell]) => [texts.get(id)!, cell]));
  const part: Part = { grouping: GROUPINGS[stack.grouping]!, tier, family, periodS: Number(stack.period), cells };
  await insertParts(client, projectId, { parts: [part], level: stack.level === null ? 0 : stack.level + 1 });
}

/**
 * Merges wherever eight parts of one level stand side by side in the given places. The look-up is LATERAL so that each
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

/**
 * Merges all parts of everything into one each: the canonical form, in which a rebuild is equal byte for byte. A part
 * that stands alone has that form already.
 */
export async function compactEverything(client: PoolClient, projectId: string): Promise<void> {
  const { rows } = await client.query<Stack>(
    `SELECT grouping, tier, family, period, NULL AS level FROM rollup WHERE project_id = $1 AND shard_key = 0
      GROUP BY grouping, tier, family, period HAVING count(DISTINCT part_id) > 1`,
    [projectId],
  );
  for (const stack of rows) await mergeStack(client, projectId, stack);
}

export async function deleteParts(client: PoolClient, projectId: string): Promise<void> {
  await client.query('DELETE FROM rollup WHERE project_id = $1 AND shard_key = 0', [projectId]);
}
