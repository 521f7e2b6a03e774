import type { AnswerRange } from '@/lib/queries/loadBreakdown';

/** The range that was really read, and from where it was measured. */
export function RangeNote({ answer, vantage }: { answer: AnswerRange; vantage: string | null }) {
  const at = (text: string) =>
    new Date(text).toLocaleString('en-GB', { timeZone: answer.timeZone, dateStyle: 'medium', timeStyle: 'short' });
  return (
    <p className="text-quiet">
      {at(answer.effectiveFrom)} to {at(answer.effectiveTo)} ({answer.timeZone}), read {at(answer.asOf)}.
      {vantage === 'service' && ' Measured at the service: the network is not seen.'}
      {vantage === 'client' && ' Measured at the client.'}
      {vantage === 'probe' && ' Measured by probes.'}
    </p>
  );
}
