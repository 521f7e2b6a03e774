import { CircleAlert, CircleCheck, Info } from 'lucide-react';
import { formatCount } from '@/lib/charts/formatMs';
import type { Finding, FindingState } from '@/lib/core/trust';
import type { Trust as TrustResult } from '@/lib/queries/loadTrust';
import { RangeNote } from '../RangeNote';
import { EvidenceTable } from './EvidenceTable';
import { KeysAndRegions } from './KeysAndRegions';
import { Quarantined } from './Quarantined';
import { ReceivedTable } from './ReceivedTable';

/** What was received, what was not, what is on its way, and how each term is known. */
export function Trust({ trust, zone }: { trust: TrustResult; zone: string }) {
  return (
    <>
      <RangeNote answer={trust} vantage={trust.vantage} zone={zone} />
      <Findings findings={trust.findings} />
      <Figures trust={trust} />
      <EvidenceTable evidence={trust.evidence} count={trust.count} />
      <ReceivedTable buckets={trust.receivedOverTime} timeZone={zone} />
      <Quarantined chunks={trust.quarantined} total={trust.store.quarantine.chunks} timeZone={zone} />
      <KeysAndRegions keys={trust.keys} regions={trust.unknownRegions} timeZone={zone} />
    </>
  );
}

const ICONS = {
  good: { Icon: CircleCheck, colour: 'text-good', label: 'In order' },
  note: { Icon: Info, colour: 'text-quiet', label: 'Worth knowing' },
  bad: { Icon: CircleAlert, colour: 'text-bad', label: 'To be put right' },
} as const satisfies Record<FindingState, unknown>;

function Findings({ findings }: { findings: Finding[] }) {
  return (
    <section className="card" aria-label="Findings">
      <ul className="flex flex-col gap-2">
        {findings.map(({ id, state, words }) => {
          const { Icon, colour, label } = ICONS[state];
          return (
            <li key={id} className="flex gap-2" data-testid="finding" data-finding={id} data-state={state}>
              <Icon aria-label={label} role="img" className={`mt-0.5 size-4 shrink-0 ${colour}`} />
              <span>{words}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Figures({ trust }: { trust: TrustResult }) {
  const { received, store } = trust;
  const figures: [string, string, number | string][] = [
    ['accepted', 'Accepted', received.accepted],
    ['duplicates', 'Duplicates', received.duplicates],
    ['rejected', 'Rejected', received.rejected],
    ['late', 'Late', received.late],
    ['inconsistent', 'Inconsistent', received.inconsistent],
    ['overflow', 'Overflow', received.overflow],
    ['skewed', 'Clock moved', received.skewed],
    ['unknownFields', 'Unknown fields', received.unknownFields],
    ['pending', 'Not folded yet', store.pending.requests],
    ['foldLag', 'Fold lag', `${(store.foldLagMs / 1000).toFixed(1)} s`],
    ['quarantine', 'In quarantine', store.quarantine.requests],
    ['unsealed', 'Not sealed yet', store.unsealed.requests],
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4 lg:grid-cols-6">
      {figures.map(([id, label, value]) => (
        <div key={id} className="card flex flex-col-reverse p-3">
          <dt className="text-quiet">{label}</dt>
          <dd className="text-lg font-semibold" data-testid={`figure-${id}`}>
            {typeof value === 'number' ? formatCount(value) : value}
          </dd>
        </div>
      ))}
    </dl>
  );
}
