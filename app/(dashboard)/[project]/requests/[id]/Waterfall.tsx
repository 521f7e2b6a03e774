import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { TERM_LABELS, type Term } from '@/lib/core/terms';
import type { NoWaterfall, WaterfallRow, Waterfall as WaterfallTrace } from '@/lib/queries/loadTrace';
import { Scroller } from '../../Scroller';

const MOST_ROWS = 300;
/** Stamps that were moved by less than this agree: rounding of clocks. */
const MOVED_MS = 2;

const CLOSED: Record<WaterfallTrace['closeReason'], string> = {
  root_settled: 'its root came and 5 s passed without another span',
  idle: '60 s passed without another span',
  span_limit: 'it reached 2,000 spans; later ones are left out',
  too_many_open: 'too many traces were open at once',
};

/** The spans of the request: when each ran, and which of them the answer waited for. */
export function Waterfall({ trace }: { trace: WaterfallTrace | NoWaterfall }) {
  if (trace === 'not_traced') return null;
  if (trace === 'expired')
    return (
      <section className="card">
        <h2 className="mb-2">Spans</h2>
        <p className="text-quiet">Its spans are gone: they are kept for 7 days. The terms above were made from them.</p>
      </section>
    );
  const shown = trace.rows.slice(0, MOST_ROWS);
  const services = new Set(trace.rows.flatMap((row) => row.service ?? []));
  return (
    <section className="card" data-testid="waterfall">
      <h2 className="mb-1">Spans</h2>
      <p className="mb-3 text-quiet">
        {formatCount(trace.spans)} spans of {formatCount(services.size)} {services.size === 1 ? 'service' : 'services'}.
        Coloured: what the answer waited for (the critical path). Closed because {CLOSED[trace.closeReason]}
        {trace.version > 1 ? `; corrected ${trace.version - 1} times by late spans` : ''}.
      </p>
      <Legend rows={shown} />
      <Scroller label="Spans of the request">
        <table className="min-w-3xl table-fixed">
          <caption className="sr-only">Spans of the request in the order they began</caption>
          <thead>
            <tr>
              <th scope="col" className="w-1/3">
                Span
              </th>
              <th scope="col">0 to {formatMs(trace.e2eMs)}</th>
              <th scope="col" className="number w-20">
                Own
              </th>
              <th scope="col" className="number w-20">
                Subtree
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: waits have no id, and the order never changes
              <Row key={index} row={row} trace={trace} />
            ))}
          </tbody>
        </table>
      </Scroller>
      {trace.rows.length > MOST_ROWS && (
        <p className="mt-2 text-quiet">{formatCount(trace.rows.length - MOST_ROWS)} more spans are not shown.</p>
      )}
    </section>
  );
}

function Legend({ rows }: { rows: readonly WaterfallRow[] }) {
  const ms = new Map<Term, number>();
  for (const piece of rows.flatMap((row) => row.pieces)) {
    ms.set(piece.term, (ms.get(piece.term) ?? 0) + piece.toMs - piece.fromMs);
  }
  return (
    <ul className="mb-3 flex flex-wrap gap-x-4 gap-y-1">
      {[...ms].map(([term, total]) => (
        <li key={term} className="flex items-center gap-1.5">
          <span aria-hidden="true" className="size-2.5 rounded-sm" style={{ background: TERM_COLOURS[term] }} />
          {TERM_LABELS[term]} {formatMs(total)}
        </li>
      ))}
    </ul>
  );
}

function Row({ row, trace }: { row: WaterfallRow; trace: WaterfallTrace }) {
  const isOnPath = row.subtreeMs > 0;
  const terms = [...new Set(row.pieces.map((piece) => piece.term))];
  return (
    <tr data-testid="span" data-on-path={isOnPath} data-own-ms={row.ownMs}>
      <th scope="row" className={isOnPath ? 'text-ink' : undefined}>
        <div className="truncate" style={{ paddingLeft: `${Math.min(row.depth, 16) * 0.75}rem` }} title={titleOf(row)}>
          {row.spanId === null ? <em>{row.name}</em> : row.name || 'unnamed'}
          {row.service !== null && <span className="text-quiet"> · {row.service}</span>}
          {row.failed && <span className="text-bad"> · failed</span>}
          {Math.abs(row.movedMs) >= MOVED_MS && <span className="text-quiet"> · clock {shift(row.movedMs)}</span>}
          {row.outlives && <span className="text-quiet"> · nobody waited</span>}
        </div>
      </th>
      <td>
        <Bar row={row} trace={trace} />
        <span className="sr-only">{terms.map((term) => TERM_LABELS[term]).join(', ')}</span>
      </td>
      <td className="number">{row.ownMs > 0 ? formatMs(row.ownMs) : '–'}</td>
      <td className="number">{isOnPath ? formatMs(row.subtreeMs) : '–'}</td>
    </tr>
  );
}

const shift = (ms: number) => `${ms > 0 ? '+' : '−'}${formatMs(Math.abs(ms))}`;

function titleOf(row: WaterfallRow): string {
  const kind = row.kind === null || row.kind === 'unspecified' ? '' : ` (${row.kind})`;
  return `${row.name}${kind}: ${formatMs(row.durationMs)}, from ${formatMs(row.startMs)} on`;
}

/** The span as a frame, and in it what of the critical path is its own. */
function Bar({ row, trace }: { row: WaterfallRow; trace: WaterfallTrace }) {
  const wholeMs = Math.max(trace.e2eMs, 0.001);
  const place = (fromMs: number, toMs: number) => {
    const from = Math.min(100, Math.max(0, (100 * fromMs) / wholeMs));
    const to = Math.min(100, Math.max(from, (100 * toMs) / wholeMs));
    return { left: `${from}%`, width: `${to - from}%`, minWidth: '2px' };
  };
  return (
    <div aria-hidden="true" className="relative h-4">
      {row.spanId !== null && (
        <div
          className="absolute inset-y-1 rounded-sm border border-line bg-hover"
          style={place(row.startMs, row.startMs + row.durationMs)}
        />
      )}
      {row.pieces.map((piece) => (
        <div
          key={piece.fromMs}
          className="absolute inset-y-0.5 rounded-sm"
          title={`${TERM_LABELS[piece.term]}: ${formatMs(piece.toMs - piece.fromMs)} (${piece.evidence})`}
          style={{ ...place(piece.fromMs, piece.toMs), background: TERM_COLOURS[piece.term] }}
        />
      ))}
      {trace.ttftMs !== null && row.depth === 0 && (
        <div
          className="absolute inset-y-0 w-px bg-ink"
          style={{ left: place(trace.ttftMs, trace.ttftMs).left }}
          title={`first output after ${formatMs(trace.ttftMs)}`}
        />
      )}
    </div>
  );
}
