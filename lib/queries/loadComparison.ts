import type { SampledRequest } from '../core/request';
import { waitUs } from '../core/request';
import { type SelectionStudy, studySelection } from '../core/selection';
import { type Shift, shiftOf } from '../core/shift';
import type { Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { withSnapshot } from '../db/snapshot';
import type { AnswerRange } from './answer';
import type { Scope } from './scope';
import { readWaits } from './waits';
import { readWholeRows, type WholeRows } from './wholeRows';

export type ComparisonInput = { before: Scope; after: Scope };

/** One endpoint before and after; the mix of endpoints never hides or fakes a change. */
export type EndpointShift = { endpoint: string; nBefore: number; nAfter: number; p50: Shift; p95: Shift; p99: Shift };

export type Comparison = {
  before: AnswerRange & { vantage: Vantage | null };
  after: AnswerRange & { vantage: Vantage | null };
  /** The most requests first. */
  endpoints: EndpointShift[];
  /** The endpoint looked at closely: the one in scope, else the first that changed, else the first. */
  focus: {
    endpoint: string;
    shifts: Shift[];
    /** What is different after: all requests, and the slowest 5 % of each side. */
    all: SelectionStudy;
    tail: SelectionStudy;
    complete: boolean;
  } | null;
};

export const SHIFT_QUANTILES = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];

/** What changed between two windows, versions or segments? Only what is beyond chance is claimed. */
export async function loadComparison(question: { viewer: Viewer; input: ComparisonInput }): Promise<Comparison> {
  const { viewer, input } = question;
  const read = (scope: Scope) => readWaits({ viewer, scope, tier: 'hour', coarsest: 'day', groupBy: 'endpoint' });
  const [before, after] = [await read(input.before), await read(input.after)];
  const names = [...new Set([...before.groups, ...after.groups])].filter((name) => name !== null);
  const endpoints = names.map((endpoint) => {
    const [was, is] = [before.wholeOf(endpoint), after.wholeOf(endpoint)];
    const at = (q: number) => shiftOf(was, is, q);
    return { endpoint, nBefore: was.n, nAfter: is.n, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  });
  endpoints.sort((a, b) => b.nBefore + b.nAfter - a.nBefore - a.nAfter);
  const chosen = endpoints.find(isChanged) ?? endpoints[0];
  return {
    before: { ...before.range, vantage: before.vantage },
    after: { ...after.range, vantage: after.vantage },
    endpoints,
    focus:
      chosen === undefined
        ? null
        : {
            endpoint: chosen.endpoint,
            shifts: SHIFT_QUANTILES.map((q) =>
              shiftOf(before.wholeOf(chosen.endpoint), after.wholeOf(chosen.endpoint), q),
            ),
            ...(await studyOf(viewer, input, chosen.endpoint)),
          },
  };
}

const isChanged = (shift: EndpointShift) => shift.p50.isClaimed || shift.p95.isClaimed || shift.p99.isClaimed;

type Studies = { all: SelectionStudy; tail: SelectionStudy; complete: boolean };

/** What is different about the requests after, from whole requests of one endpoint. */
async function studyOf(viewer: Viewer, input: ComparisonInput, endpoint: string): Promise<Studies> {
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const read = (scope: Scope) => readWholeRows(snapshot, { scope: { ...scope, endpoint: [endpoint] }, stored });
    const [before, after] = [await read(input.before), await read(input.after)];
    const study = (was: readonly SampledRequest[], is: readonly SampledRequest[]) => {
      const selected = new Set(is);
      return studySelection({
        rows: [...was, ...is],
        isSelected: (row) => selected.has(row),
        basis: (row) => after.basisOfEndpoint(row.dims.endpoint),
      });
    };
    const complete = before.complete && after.complete;
    return { all: study(before.rows, after.rows), tail: study(slowest(before), slowest(after)), complete };
  });
}

const TAIL = 0.05;

/** The slowest 5 % by weight. */
function slowest({ rows, basisOfEndpoint }: WholeRows): SampledRequest[] {
  const wait = (row: SampledRequest) => waitUs(row, basisOfEndpoint(row.dims.endpoint)) ?? 0;
  const sorted = [...rows].sort((a, b) => wait(b) - wait(a));
  let left = TAIL * rows.reduce((sum, row) => sum + row.weight, 0);
  return sorted.filter((row) => {
    if (left <= 0) return false;
    left -= row.weight;
    return true;
  });
}
