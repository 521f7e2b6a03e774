import { formatCount, formatMs, formatRatio, formatValue } from '@/lib/charts/formatMs';
import { LEVER_LABELS, type Lever } from '@/lib/core/terms';
import type { Breakdown, Stage } from '@/lib/queries/loadBreakdown';
import { Percentile } from '../Percentile';
import { ScrollCard } from '../ScrollCard';
import { floorCell } from './floorCell';

const STAGE_LABELS: Record<string, string> = {
  ...{ stt: 'Speech to text', llm: 'LLM', tts: 'Text to speech', embed: 'Embedding', rerank: 'Reranking' },
  ...{ retrieval: 'Retrieval', tool: 'Tools' },
};

/** The calls inside requests by stage, with what each stage alone would save the whole wait. */
export function StageTable({ stages, steps }: Pick<Breakdown, 'stages' | 'steps'>) {
  if (stages.length === 0) return null;
  return (
    <ScrollCard label="Stages">
      <h2 className="mb-2">Stages</h2>
      <table>
        <caption className="text-left text-quiet">{stepWords(steps)}</caption>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            {['Requests', 'Calls each', 'p50', 'p99', 'Hop p50', 'Hop p99', 'Model p50', 'Model p99'].map((heading) => (
              <th key={heading} scope="col" className="number">
                {heading}
              </th>
            ))}
            <th scope="col">Would save the wait at p99</th>
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => (
            <tr key={stage.stage} data-testid="stage" data-stage={stage.stage}>
              <th scope="row">{STAGE_LABELS[stage.stage] ?? stage.stage}</th>
              <td className="number">{formatRatio(stage.share)}</td>
              <td className="number">{stage.callsEach.toFixed(1)}</td>
              <Percentile value={stage.duration.p50} />
              <Percentile value={stage.duration.p99} />
              {[stage.hop, stage.model].map((part, i) => (
                <Part key={i === 0 ? 'hop' : 'model'} part={part} />
              ))}
              <td>{gainWords(stage)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollCard>
  );
}

function Part({ part }: { part: Stage['hop'] }) {
  if (part === null)
    return (
      <>
        <td className="number">–</td>
        <td className="number">–</td>
      </>
    );
  return (
    <>
      <Percentile value={part.p50} />
      <Percentile value={part.p99} />
    </>
  );
}

function stepWords(steps: Breakdown['steps']): string {
  if (steps === null) return '';
  const mean = steps.mean.toFixed(1);
  return `Model calls one after the other: ${mean} on average, ${steps.p50} in the middle, ${steps.p99} at p99, at most ${steps.max}, in ${formatCount(steps.n)} requests that tell their calls. Each adds its own latency.`;
}

function gainWords({ gains, floors }: Stage): string {
  const parts = Object.entries(gains).map(([lever, gain]) => {
    const floor = floors[lever as keyof typeof floors];
    const value = gain.p99.ms === null ? `${formatValue(gain.p50)} at p50` : formatMs(gain.p99.ms);
    return `${LEVER_LABELS[lever as Lever]} ${value}${floor === undefined ? '' : ` (floor ${floorCell(floor)})`}`;
  });
  return parts.length === 0 ? '–' : parts.join('; ');
}
