/** What an answer is about: the range after snapping outward, and the instant it was read at (RFC 3339). */
export type AnswerRange = { effectiveFrom: string; effectiveTo: string; asOf: string; timeZone: string };
