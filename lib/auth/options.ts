import type { NextAuthOptions } from 'next-auth';
import CredentialsProvider from 'next-auth/providers/credentials';
import { env } from '../platform/env';
import { isSecure, revokeSession, SESSION_MAX_AGE_S, sessionCookieName } from './session';
import { clientAddress, type SignedIn, signIn } from './signIn';

/** next-auth with e-mail and password. Its token carries only the session's id and version. */
export function authOptions(): NextAuthOptions {
  return {
    secret: env().ISOCHRONE_SECRET,
    session: { strategy: 'jwt', maxAge: SESSION_MAX_AGE_S },
    pages: { signIn: '/sign-in', error: '/sign-in', signOut: '/sign-in' },
    cookies: {
      sessionToken: {
        name: sessionCookieName(),
        options: { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure() },
      },
    },
    providers: [
      CredentialsProvider({
        credentials: { email: { type: 'email' }, password: { type: 'password' } },
        authorize: async (credentials, request) => {
          const forwardedFor: unknown = request.headers?.['x-forwarded-for'];
          return signIn({
            email: String(credentials?.email ?? ''),
            password: String(credentials?.password ?? ''),
            address: clientAddress(typeof forwardedFor === 'string' ? forwardedFor : null),
          });
        },
      }),
    ],
    callbacks: {
      jwt: ({ token, user }) => {
        if (user === undefined) return token;
        const signedIn = user as SignedIn;
        return { sub: signedIn.id, sid: signedIn.sid, version: signedIn.version };
      },
      redirect: ({ url, baseUrl }) => (url.startsWith('/') && !url.startsWith('//') ? `${baseUrl}${url}` : baseUrl),
    },
    events: {
      signOut: async ({ token }) => {
        if (typeof token?.sid === 'string') await revokeSession(token.sid);
      },
    },
  };
}
