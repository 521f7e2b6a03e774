/** Builds whatever changed since the last build. Throws an error that holds the output of the step that failed. */
export function buildIfStale(say: (line: string) => void, options?: { dashboard?: boolean }): Promise<void>;
