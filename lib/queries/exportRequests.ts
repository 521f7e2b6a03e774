import { type CsvCell, csvLine } from '../core/csv';
import { TERMS } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { classesFor, readPage } from './loadRequests';
import type { RequestsInput } from './parseRequests';
import { basisOf } from './population';
import { type RequestLine, toLine } from './requestLine';

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const PAGE = 1_000;

type Column = [name: string, of: (line: RequestLine) => CsvCell];
const plain = (
  ...names: { [K in keyof RequestLine]: RequestLine[K] extends CsvCell ? K : never }[keyof RequestLine][]
) => names.map((name): Column => [name, (line) => line[name]]);

const COLUMNS: readonly Column[] = [
  ...plain('id', 'startedAt', 'endpoint', 'vantage', 'environment', 'version', 'clientRegion', 'serviceRegion'),
  ...plain('provider', 'model', 'modelRegion', 'outcome', 'e2eMs', 'ttftMs', 'waitMs'),
  ['censored', (line) => String(line.censored)],
  ['gapMs', (line) => line.gapMs],
  ...TERMS.map((term): Column => [`${term}Ms`, (line) => line.terms[term]]),
  ...plain('connection', 'roundTrips', 'rttMs', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'inFlight'),
  ...plain('cache', 'quality', 'weight', 'calls', 'traceId', 'sessionId'),
  ['attributes', (line) => (line.attributes === null ? null : JSON.stringify(line.attributes))],
];

/**
 * All requests of the question as text, a page of rows at a time, each page a snapshot of its own, so that a long export
 * holds nothing back. The rows are those of `GET /api/v1/requests`; `limit` is not applied.
 */
export async function* exportRequests(question: {
  viewer: Viewer;
  input: RequestsInput;
  format: ExportFormat;
}): AsyncGenerator<string> {
  const { viewer, input, format } = question;
  let head = format === 'csv' ? csvLine(COLUMNS.map(([name]) => name)) : '';
  let after = input.after;
  for (;;) {
    const rows = await readPage({ viewer, input, after, limit: PAGE });
    const classOf = await classesFor(viewer, input, rows);
    const lines = rows.map((row) => toLine(row, basisOf(input.metric, classOf(row.dims.endpoint)), row.calls.length));
    const texts = lines.map((line) =>
      format === 'csv' ? csvLine(COLUMNS.map(([, of]) => of(line))) : `${JSON.stringify(line)}\n`,
    );
    yield head + texts.join('');
    head = '';
    if (rows.length < PAGE) return;
    after = rows.at(-1) ?? null;
  }
}
