import Link from 'next/link';
import { formatCount, formatMs } from '@/lib/charts/formatMs';
import type { SelectionStudy } from '@/lib/core/selection';
import type { Shift } from '@/lib/core/shift';
import type { Comparison as ComparisonResult, EndpointShift } from '@/lib/queries/loadComparison';
import { Percentile } from '../Percentile';
import { Scroller } from '../Scroller';
import { StudyTables } from '../StudyTables';
import type { PageScope } from '../scopeUrl';
import { withParams } from '../urlParams';
import type { Segments } from './compareUrl';
import { ShiftChart } from './ShiftChart';
import { shiftWords } from './shiftWords';

type Props = { comparison: ComparisonResult; page: PageScope; segments: Segments | null };

export function Comparison({ comparison, page, segments }: Props) {
  const { focus, endpoints, before, after } = comparison;
  const at = (text: string) =>
    new Date(text).toLocaleString('en-GB', { timeZone: page.zone, dateStyle: 'medium', timeStyle: 'short' });
  const names = segments
    ? { before: segments.a, after: segments.b }
    : {
        before: `${at(before.effectiveFrom)} to ${at(before.effectiveTo)}`,
        after: `${at(after.effectiveFrom)} to ${at(after.effectiveTo)}`,
      };
  // what the sides were chosen by differs of course
  const without = (study: SelectionStudy) => ({
    ...study,
    features: study.features.filter(({ dimension }) => dimension !== segments?.by),
  });
  const seen = endpoints.find(({ endpoint }) => endpoint === focus?.endpoint);
  return (
    <>
      <p className="text-quiet" data-testid="range">
        Before: {names.before}. After: {names.after} ({page.zone}).
      </p>
      <section className="card" aria-label="What changed">
        <p className="text-lg leading-snug" data-testid="sentence">
          {seen === undefined ? 'No requests on either side.' : shiftWords(seen)}
        </p>
      </section>
      {endpoints.length > 0 && <EndpointTable endpoints={endpoints} params={page.params} />}
      {focus && (
        <>
          <section className="card" aria-labelledby="shift">
            <h2 id="shift">How far each percentile of {focus.endpoint} moved</h2>
            <p className="mb-2 text-quiet">Filled: a change beyond chance. Hollow: not to be claimed.</p>
            <ShiftChart title={`Difference at each percentile of ${focus.endpoint}`} shifts={focus.shifts} />
            <ShiftTable shifts={focus.shifts} />
          </section>
          <section className="card" aria-labelledby="moved-all">
            <h2 id="moved-all">What moved in all requests</h2>
            <StudyTables study={without(focus.all)} here="After" others="Before" />
          </section>
          <section className="card" aria-labelledby="moved-tail">
            <h2 id="moved-tail">What moved in the slowest 5 %</h2>
            <StudyTables study={without(focus.tail)} here="After" others="Before" />
          </section>
        </>
      )}
    </>
  );
}

const COLUMNS = ['p50', 'p95', 'p99'] as const;

function EndpointTable({ endpoints, params }: { endpoints: EndpointShift[]; params: URLSearchParams }) {
  return (
    <section className="card">
      <Scroller label="Endpoints before and after">
        <table>
          <caption className="sr-only">Requests and percentiles of each endpoint, before and after</caption>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              {['Before', 'After', ...COLUMNS.flatMap((column) => [`${column} before`, 'after', 'change'])].map(
                (heading, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: headings repeat and never move
                  <th key={i} scope="col" className="number">
                    {heading}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {endpoints.map((row) => (
              <tr key={row.endpoint} data-testid="endpoint" data-endpoint={row.endpoint}>
                <th scope="row">
                  <Link href={withParams(params, { endpoint: row.endpoint })}>{row.endpoint}</Link>
                </th>
                <td className="number">{formatCount(row.nBefore)}</td>
                <td className="number">{formatCount(row.nAfter)}</td>
                {COLUMNS.flatMap((column) => [
                  <Percentile key={`${column} before`} value={row[column].before} testId={`${column}-before`} />,
                  <Percentile key={`${column} after`} value={row[column].after} testId={`${column}-after`} />,
                  <Change key={`${column} change`} shift={row[column]} />,
                ])}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}

/** The difference with its sign when it may be claimed; else that it may not. */
function Change({ shift }: { shift: Shift }) {
  const { differenceMs, lowMs, highMs, isClaimed } = shift;
  const interval = lowMs === null || highMs === null ? '' : `${formatMs(lowMs)} to ${formatMs(highMs)}`;
  if (differenceMs === null || !isClaimed)
    return (
      <td className="number text-quiet" title={interval} data-testid="change" data-claimed="false">
        {differenceMs === null ? '–' : 'no sure change'}
      </td>
    );
  return (
    <td
      className={`number ${differenceMs > 0 ? 'text-bad' : 'text-good'}`}
      title={interval}
      data-testid="change"
      data-claimed="true"
    >
      {differenceMs > 0 ? '+' : ''}
      {formatMs(differenceMs)}
    </td>
  );
}

function ShiftTable({ shifts }: { shifts: Shift[] }) {
  return (
    <details className="mt-2">
      <summary>As a table</summary>
      <Scroller label="Percentiles before and after">
        <table>
          <thead>
            <tr>
              <th scope="col">Percentile</th>
              {['Before', 'After', 'Change', 'At least', 'At most'].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shifts.map((shift) => (
              <tr key={shift.q}>
                <th scope="row">p{Number((shift.q * 100).toFixed(2))}</th>
                <Percentile value={shift.before} />
                <Percentile value={shift.after} />
                <Change shift={shift} />
                <td className="number">{formatMs(shift.lowMs)}</td>
                <td className="number">{formatMs(shift.highMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </details>
  );
}
