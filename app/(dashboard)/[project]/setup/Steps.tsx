import { Circle, CircleCheck, CircleDashed } from 'lucide-react';
import Link from 'next/link';
import { formatCount, formatRatio } from '@/lib/charts/formatMs';
import { SETUP_STEPS, type Setup, type SetupStep, type StepState } from '@/lib/queries/loadSetup';

const ICONS = {
  done: { Icon: CircleCheck, colour: 'text-good', label: 'Done' },
  partly: { Icon: CircleDashed, colour: 'text-accent', label: 'Partly' },
  todo: { Icon: Circle, colour: 'text-quiet', label: 'To do' },
} as const satisfies Record<StepState, unknown>;

const TITLES: Record<SetupStep, string> = {
  client: 'Measure at the client, in the region where users are',
  model: 'Subtract the model’s own time',
  size: 'Attack what is avoidable, the largest first',
  p99: 'Report p99, with its number of requests',
};

/** The four steps of the method, with how far this project is. */
export function Steps({ setup, root }: { setup: Setup; root: string }) {
  return (
    <ol className="card flex flex-col gap-3">
      {SETUP_STEPS.map((step, index) => {
        const { Icon, colour, label } = ICONS[setup.steps[step]];
        return (
          <li key={step} className="flex gap-3" data-testid="step" data-step={step} data-state={setup.steps[step]}>
            <Icon role="img" aria-label={label} className={`mt-0.5 size-5 shrink-0 ${colour}`} />
            <div>
              <p className="font-semibold">
                {index + 1}. {TITLES[step]}
              </p>
              <p className="text-quiet">
                {wordsOf(step, setup)}{' '}
                {step === 'size' && setup.steps.size !== 'todo' && <Link href={root}>See what to fix first</Link>}
              </p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function wordsOf(step: SetupStep, setup: Setup): string {
  if (setup.n === 0) return 'No requests in this range yet.';
  const n = `${formatCount(setup.n)} requests`;
  if (step === 'client')
    return `${formatRatio(setup.clientShare)} of ${n} carry an end to end that was measured at the client.`;
  if (step === 'model') return `The model’s time is known in ${formatRatio(setup.modelShare)} of ${n}.`;
  if (step === 'size')
    return setup.steps.size === 'todo'
      ? 'Needs the two steps before: what is neither the network nor the model cannot be sized yet.'
      : 'Levers are ranked by what they would gain at p99.';
  const withP99 = setup.regions.filter((region) => region.hasP99).length;
  return `${formatCount(withP99)} of ${formatCount(setup.regions.length)} client regions have the 299 requests that a p99 needs.`;
}
