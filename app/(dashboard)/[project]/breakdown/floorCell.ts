import { formatMs } from '@/lib/charts/formatMs';
import type { FloorInfo } from '@/lib/queries/loadBreakdown';

/** A floor in a cell: its size, kind and source. */
export function floorCell(floor: FloorInfo): string {
  if (floor.kind === 'none') return 'none';
  const size = floor.ms === undefined ? 'by request' : formatMs(floor.ms);
  return `${size}, ${floor.kind}${floor.source === '' ? '' : ` (${floor.source})`}`;
}
