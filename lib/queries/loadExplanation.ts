import { type Explanation as Explained, type ExplainedRequest, explain } from '../core/explanation';
import type { Basis, Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
import { readCellRows } from './cellRows';
import { loadLeverContext } from './loadLeverContext';
import type { ExplanationInput } from './parseExplanation';
import { chooseVantage, classify, readPopulation } from './population';

export type { ExplainedRequest } from '../core/explanation';

/** A request behind a gain; `startedAt` in the zone asked for. */
export type ListedRequest = Omit<ExplainedRequest, 'startedAtUs'> & { startedAt: string };

export type Explanation = AnswerRange &
  Omit<Explained, 'requests'> & {
    requests: ListedRequest[];
    gainsFrom: string;
    gainsTo: string;
    endpoint: string;
    vantage: Vantage | null;
    basis: Basis;
    /** False: the requests listed are those of the sample, each standing for several. */
    complete: boolean;
  };

/**
 * Behind a gain: which requests, what was taken off each, and the two distributions. From the same requests as the
 * gains of `loadBreakdown`. Null when several endpoints are in view, or none.
 */
export async function loadExplanation({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: ExplanationInput;
}): Promise<Explanation | null> {
  const { scope, levers, quantile } = input;
  const range = { fromUs: scope.fromUs, toUs: scope.toUs, finest: 'hour' as const };
  const [stored, context] = await Promise.all([loadEndpointClasses(viewer.projectId), loadLeverContext({ viewer })]);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, scope, range);
    const { members } = await readPopulation(snapshot, {
      ...{ scope, vantage, range, dimensions: ['endpoint'], families: ['counts'] },
    });
    const endpoints = members.map((member) => member.key.endpoint!);
    const classes = await classify(snapshot, { endpoints, stored, vantage, range });
    const cell = await readCellRows(snapshot, { viewer, scope, vantage, classes, floorsVersion: context.version });
    if (cell.endpoint === null) return null;
    const { requests, ...explained } = explain({ rows: cell.rows, basis: cell.basis, context, levers, quantile });
    return {
      ...rangeOf(snapshot, snapshot.effective(range), scope.timeZone),
      ...explained,
      requests: requests.map(({ startedAtUs, ...request }) => ({
        ...request,
        startedAt: formatInstant(Math.floor(startedAtUs / 1000), scope.timeZone),
      })),
      gainsFrom: formatInstant(cell.fromUs / 1000, scope.timeZone),
      gainsTo: formatInstant(cell.toUs / 1000, scope.timeZone),
      ...{ endpoint: cell.endpoint, vantage, basis: cell.basis, complete: cell.complete },
    };
  });
}
