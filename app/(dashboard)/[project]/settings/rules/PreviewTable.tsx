import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { TERM_LABELS } from '@/lib/core/terms';
import type { RulesPreview } from '@/lib/queries/previewTermRules';

/** What the rules would change on recent traces. */
export function PreviewTable({ preview }: { preview: RulesPreview }) {
  if (preview.requests === 0)
    return (
      <p className="card" data-testid="preview">
        No recent traces to try the rules on: send some through OTLP first.
      </p>
    );
  return (
    <section className="card" data-testid="preview">
      <h2 className="mb-2">
        {formatCount(preview.changed)} of the {formatCount(preview.requests)} latest requests would change
      </h2>
      {preview.terms.length > 0 && (
        <table>
          <caption className="sr-only">Mean time a request, before and after</caption>
          <thead>
            <tr>
              <th scope="col">Mean a request</th>
              <th scope="col" className="number">
                now
              </th>
              <th scope="col" className="number">
                with these rules
              </th>
            </tr>
          </thead>
          <tbody>
            {preview.terms.map(({ term, beforeMs, afterMs }) => (
              <tr key={term}>
                <th scope="row">{TERM_LABELS[term]}</th>
                <td className="number">{formatMs(beforeMs)}</td>
                <td className="number">{formatMs(afterMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="mt-2 text-quiet">
        Endpoints:{' '}
        {preview.endpoints.map(({ endpoint, requests }) => `${endpoint} (${formatCount(requests)})`).join(', ')}
      </p>
    </section>
  );
}
