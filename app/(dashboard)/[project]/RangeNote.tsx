import type { AnswerRange } from '@/lib/queries/answer';

type Props = { answer: AnswerRange; vantage: string | null; zone?: string | null };

/** The range that was really read, in the zone shown, and from where it was measured. */
export function RangeNote({ answer, vantage, zone }: Props) {
  const timeZone = zone ?? answer.timeZone;
  const at = (text: string) =>
    new Date(text).toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
  return (
    <p className="text-quiet" data-testid="range">
      {at(answer.effectiveFrom)} to {at(answer.effectiveTo)} ({timeZone}), read {at(answer.asOf)}.
      {timeZone !== answer.timeZone && ` Hours and days are those of the project (${answer.timeZone}).`}
      {vantage === 'service' && ' Measured at the service: the network is not seen.'}
      {vantage === 'client' && ' Measured at the client.'}
      {vantage === 'probe' && ' Measured by probes.'}
    </p>
  );
}
