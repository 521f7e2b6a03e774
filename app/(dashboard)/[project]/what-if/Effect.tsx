import { formatCount, formatMs, formatRatio } from '@/lib/charts/formatMs';
import { QUANTILE_KEYS, QUANTILE_LABELS } from '@/lib/core/estimate';
import { LEVER_LABELS } from '@/lib/core/terms';
import type { WhatIf } from '@/lib/queries/loadWhatIf';
import { Percentile } from '../Percentile';
import { Scroller } from '../Scroller';

/** Every percentile now and then, with the gain's interval; the objective; what each lever does alone. */
export function Effect({ answer, isAsked }: { answer: WhatIf; isAsked: boolean }) {
  const { endpoint, effect } = answer;
  if (endpoint === null || effect === null) return <p className="card">No requests in this range.</p>;
  return (
    <>
      <section className="card" aria-labelledby="effect">
        <h2 id="effect">{endpoint}</h2>
        <p className="mb-2 text-quiet">
          {isAsked ? '' : 'Choose levers above. '}Request by request over {formatCount(effect.n)} requests
          {answer.complete ? '' : ` that stand for all (they count for ${formatCount(effect.nEffective)})`}.
          {effect.placementWords && ` Geography: ${effect.placementWords}.`}
          {effect.unknown.length > 0 &&
            ` Nothing is measured of ${effect.unknown.map((lever) => LEVER_LABELS[lever]).join(', ')}.`}
        </p>
        <Scroller label="Percentiles now and then">
          <table>
            <caption className="sr-only">Percentiles of the wait now and with these levers</caption>
            <thead>
              <tr>
                <th scope="col">Percentile</th>
                {['Now', 'Then', 'Gain'].map((heading) => (
                  <th key={heading} scope="col" className="number">
                    {heading}
                  </th>
                ))}
                <th scope="col">Gain, 95 %</th>
              </tr>
            </thead>
            <tbody>
              {QUANTILE_KEYS.map((key) => {
                const { before, after, gain } = effect.quantiles[key];
                return (
                  <tr key={key} data-testid="quantile" data-quantile={key}>
                    <th scope="row">{QUANTILE_LABELS[key]}</th>
                    <Percentile value={before} testId="before" />
                    <Percentile value={after} testId="after" />
                    <Percentile value={gain} testId="gain" />
                    <td className="whitespace-nowrap">{intervalWords(gain)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scroller>
        <Objective answer={answer} />
      </section>
      {answer.alone.length > 1 && <Alone answer={answer} />}
    </>
  );
}

type Gain = NonNullable<WhatIf['effect']>['quantiles']['p99']['gain'];

function intervalWords(gain: Gain): string {
  if (gain.ms === null) return gain.reason === 'too_few' ? 'too few requests' : '';
  return gain.highMs === null
    ? `at least ${formatMs(gain.lowMs)}`
    : `${formatMs(gain.lowMs)} to ${formatMs(gain.highMs)}`;
}

function Objective({ answer: { objective, effect } }: { answer: WhatIf }) {
  if (objective === null || effect === null || effect.within === null) return null;
  const { before, after } = effect.within;
  return (
    <p className="mt-3" data-testid="objective">
      Within {formatMs(objective.thresholdMs)}: {formatRatio(before, 2)} now, <strong>{formatRatio(after, 2)}</strong>{' '}
      then; the objective is {formatRatio(objective.target, 2)}. Errors are not counted here.
    </p>
  );
}

function Alone({ answer: { alone, effect } }: { answer: WhatIf }) {
  const joint = effect?.quantiles.p99.gain.ms ?? null;
  return (
    <section className="card" aria-labelledby="alone">
      <h2 id="alone">Each alone, at p99</h2>
      <p className="mb-2 text-quiet">
        These do not add up to {formatMs(joint)}: a request that is slow for two reasons stays slow when one is gone.
      </p>
      <ul>
        {alone.map(({ lever, p99 }) => (
          <li key={lever} data-testid="alone" data-lever={lever} className="flex gap-3 border-b border-line py-1.5">
            <span className="flex-1">{LEVER_LABELS[lever]}</span>
            <span className="text-quiet">{intervalWords(p99)}</span>
            <span className="w-24 text-right">{formatMs(p99.ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
