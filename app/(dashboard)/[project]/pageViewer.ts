import { notFound, redirect } from 'next/navigation';
import { cache } from 'react';
import { viewerFromSession } from '@/lib/auth/viewer';
import type { Viewer } from '@/lib/core/viewer';
import { isAnswerError } from '@/lib/platform/errors';
import { loadProject, type ProjectSummary } from '@/lib/queries/loadProject';

/** The signed-in viewer and project of a page: else off to sign-in, or not found. Asked once a request. */
export const pageViewer = cache(async (slug: string): Promise<{ viewer: Viewer; project: ProjectSummary }> => {
  const viewer = await viewerFromSession(slug).catch((error: unknown) => {
    if (isAnswerError(error) && error.status === 401) redirect(`/sign-in?next=/${encodeURIComponent(slug)}`);
    if (isAnswerError(error) && error.status === 404) notFound();
    throw error;
  });
  const project = await loadProject({ viewer });
  if (project === null) notFound();
  return { viewer, project };
});
