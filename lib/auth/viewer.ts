import { headers } from 'next/headers';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { AnswerError } from '../platform/errors';
import { authenticateKey } from './keys';
import { requireOwnOrigin } from './origin';
import { readSession, type SessionUser } from './session';

/**
 * Who calls an API route: the key in the headers, or the session with `?project=<slug>`. `manage` asks for a manage key
 * or an owner; a write with a session must come from our own pages. Throws AnswerError 400, 401, 403 or 404.
 */
export async function viewerForApi(request: Request, scope: 'read' | 'manage'): Promise<Viewer> {
  if (request.headers.has('authorization') || request.headers.has('x-isochrone-key')) return keyViewer(request, scope);
  const user = await readSession(request.headers.get('cookie'));
  if (user === null) throw signedOut('Send the header Authorization: Bearer <key>, or sign in.');
  if (!['GET', 'HEAD'].includes(request.method)) requireOwnOrigin(request);
  const slug = new URL(request.url).searchParams.get('project');
  if (slug === null || slug === '') {
    const hint = 'Add ?project=<slug>.';
    throw new AnswerError({ status: 400, code: 'project', message: 'With a session, name the project.', hint });
  }
  const viewer = await memberViewer(user, slug);
  if (scope === 'manage' && viewer.role !== 'owner') {
    const hint = 'Ask an owner of the project.';
    throw new AnswerError({ status: 403, code: 'role', message: 'Only owners may change settings.', hint });
  }
  return viewer;
}

/** The signed-in person as a viewer of a project. For pages. Throws AnswerError 401 or 404. */
export async function viewerFromSession(projectSlug: string): Promise<Viewer> {
  return memberViewer(await requireUser(), projectSlug);
}

/** The signed-in person of the page being rendered. Throws AnswerError 401. */
export async function requireUser(): Promise<SessionUser> {
  const user = await currentUser();
  if (user === null) throw signedOut('Sign in.');
  return user;
}

/** The signed-in person of the page being rendered, or null. */
export async function currentUser(): Promise<SessionUser | null> {
  return readSession((await headers()).get('cookie'));
}

async function keyViewer(request: Request, scope: 'read' | 'manage'): Promise<Viewer> {
  const key = await authenticateKey(request.headers, scope === 'read' ? ['read', 'manage'] : ['manage']);
  const project = await prisma().project.findUnique({ where: { id: key.projectId } });
  if (project === null) throw unknownProject();
  return {
    projectId: project.id,
    projectSlug: project.slug,
    userId: null,
    keyId: key.keyId,
    role: key.scope === 'manage' ? 'owner' : 'reader',
  };
}

async function memberViewer(user: SessionUser, slug: string): Promise<Viewer> {
  const membership = await prisma().membership.findFirst({
    where: { userId: user.userId, project: { slug } },
    include: { project: true },
  });
  if (membership === null) throw unknownProject();
  return {
    projectId: membership.projectId,
    projectSlug: membership.project.slug,
    userId: user.userId,
    keyId: null,
    role: roleOf(membership.role),
  };
}

function roleOf(role: string): Viewer['role'] {
  return role === 'owner' || role === 'member' ? role : 'reader';
}

function signedOut(hint: string): AnswerError {
  return new AnswerError({ status: 401, code: 'unauthorised', message: 'Nobody is signed in.', hint });
}

function unknownProject(): AnswerError {
  const hint = 'Check the address, or ask an owner to add you.';
  return new AnswerError({ status: 404, code: 'not_found', message: 'There is no such project here.', hint });
}
