/** What a person may do in a project: owners change settings, members and readers look. */
export const ROLES = ['owner', 'member', 'reader'] as const;
export type Role = (typeof ROLES)[number];
