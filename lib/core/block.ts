// Blocks: encoded cells in key order, packed up to 32 kB, so that a read of some cells unpacks little.
// The split depends on the cells alone, so equal cells give equal blocks.

import { ByteReader, ByteWriter } from './bytes';

const BLOCK_BYTES = 32_768;

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

/** Packs encoded cells by key. A cell beyond 32 kB has a block of its own. */
export function packBlocks(cells: ReadonlyMap<string, Uint8Array>): Block[] {
  const blocks: Block[] = [];
  let writer = new ByteWriter();
  let size = 0;
  let firstCell = '';
  let lastCell = '';
  const close = () => {
    if (size > 0) blocks.push({ firstCell, lastCell, body: writer.bytes() });
    writer = new ByteWriter();
    size = 0;
  };
  for (const key of [...cells.keys()].sort(compareKeys)) {
    const body = cells.get(key)!;
    if (size > 0 && size + body.length + key.length > BLOCK_BYTES) close();
    if (size === 0) firstCell = key;
    lastCell = key;
    writer.text(key);
    writer.sized(body);
    size += body.length + key.length + 8;
  }
  close();
  return blocks;
}

/** The cells of a block, only those whose key `keep` accepts. */
export function* unpackBlock(body: Uint8Array, keep?: (key: string) => boolean): Generator<[string, Uint8Array]> {
  const reader = new ByteReader(body);
  while (!reader.done) {
    const key = reader.text();
    const cell = reader.sized();
    if (!keep || keep(key)) yield [key, cell];
  }
}
