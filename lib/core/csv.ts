/** One value of a CSV file: null is an empty cell, never 0. */
export type CsvCell = string | number | null;

/**
 * One line of RFC 4180, ended by CRLF. A text that a spreadsheet would take for a formula gets an apostrophe before it.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
