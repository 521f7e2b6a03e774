import { explainValue, formatValue } from '@/lib/charts/formatMs';
import type { Value } from '@/lib/core/estimate';

/** A table cell with a percentile and, on hover, its interval or why there is none. */
export function Percentile({ value, testId }: { value: Value; testId?: string }) {
  return (
    <td className="number" data-testid={testId} title={explainValue(value)}>
      {formatValue(value)}
    </td>
  );
}
