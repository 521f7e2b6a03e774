// Blocks: encoded cells in key order, packed up to 8 kB, so that a read of one cell fetches little else.
//
//   count · count × (id in 8 bytes, length) · bodies
//
// A cell stands under the hash of its key; the text of each key is kept once a project (`cell_key`), not in every block:
// most bodies are shorter than their key. A reader passes over cells it does not want without touching their bodies.
// The split depends on the cells alone, so equal cells give equal blocks.

import { ByteReader, ByteWriter } from './bytes';
import { hash53 } from './hash';

const BLOCK_BYTES = 8_192;

export type Block = { firstCell: string; lastCell: string; body: Uint8Array };

/** UTF-8 order (Postgres COLLATE "C") of two texts; UTF-16 order differs only beyond the basic plane. */
function compareKeys(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rotate(x) - rotate(y) : x - y;
  }
  return a.length - b.length;
}
const rotate = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit + 0x2000);

/** What a key is called inside blocks. 53 bits: two of a million keys are the same with p < 10^-4. */
export const cellId = (key: string): number => hash53(key);

type Encoded = { key: string; body: Uint8Array };

function pack(cells: readonly Encoded[], size: number): Block {
  const writer = new ByteWriter(size + 10);
  writer.unsigned(cells.length);
  for (const { key, body } of cells) {
    writer.fixed(cellId(key));
    writer.unsigned(body.length);
  }
  for (const { body } of cells) writer.raw(body);
  return { firstCell: cells[0]!.key, lastCell: cells.at(-1)!.key, body: writer.bytes() };
}

/** Packs encoded cells by key. A cell beyond 8 kB has a block of its own. */
export function packBlocks(cells: ReadonlyMap<string, Uint8Array>): Block[] {
  const blocks: Block[] = [];
  let open: Encoded[] = [];
  let size = 0;
  const close = () => {
    if (open.length > 0) blocks.push(pack(open, size));
    open = [];
    size = 0;
  };
  for (const key of [...cells.keys()].sort(compareKeys)) {
    const body = cells.get(key)!;
    if (size > 0 && size + body.length > BLOCK_BYTES) close();
    open.push({ key, body });
    size += body.length + 10;
  }
  close();
  return blocks;
}

/** The cells of a block, those whose id `keep` accepts. */
export function* unpackBlock(body: Uint8Array, keep?: (id: number) => boolean): Generator<[number, Uint8Array]> {
  const reader = new ByteReader(body);
  const count = reader.unsigned();
  const ids = new Float64Array(count);
  const lengths = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    ids[i] = reader.fixed();
    lengths[i] = reader.unsigned();
  }
  for (let i = 0; i < count; i++) {
    if (keep && !keep(ids[i]!)) reader.skip(lengths[i]!);
    else yield [ids[i]!, reader.take(lengths[i]!)];
  }
}
