/** An error with an answer: what went wrong (`message`) and what to do about it (`hint`). Compare by `code`. */
export class AnswerError extends Error {
  readonly code: string;
  readonly status: number;
  readonly hint: string;
  readonly retryAfterS: number | undefined;

  constructor(options: { status: number; code: string; message: string; hint: string; retryAfterS?: number }) {
    super(options.message);
    this.name = 'AnswerError';
    this.status = options.status;
    this.code = options.code;
    this.hint = options.hint;
    this.retryAfterS = options.retryAfterS;
  }
}

/** True for an AnswerError of either bundle: `lib/` exists twice in one process, so instanceof is not enough. */
export function isAnswerError(error: unknown): error is AnswerError {
  return error instanceof Error && error.name === 'AnswerError';
}
