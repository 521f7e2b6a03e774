/** Who asks, and for which project. Every query and command takes one: the tenant cannot be forgotten. */
export type Viewer = {
  projectId: string;
  projectSlug: string;
  /** Null for a key. */
  userId: string | null;
  /** Null for a person. */
  keyId: string | null;
  role: 'owner' | 'member' | 'reader';
};
