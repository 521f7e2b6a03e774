/** An address as stored: NFKC, trimmed, lower case. */
export function normaliseEmail(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}

/** What can be an address once normalised: one @, no blanks, quotes or commas. */
export const EMAIL_PATTERN = /^[^@\s"',]+@[^@\s"',]+$/;
