import NextAuth from 'next-auth';
import { authOptions } from '@/lib/auth/options';
import { clientAddress, refuseWhenThrottled } from '@/lib/auth/signIn';
import { answerError } from '../../internal/answer';

type Context = { params: Promise<{ nextauth: string[] }> };

async function handle(request: Request, context: Context): Promise<Response> {
  return NextAuth(authOptions())(request, context);
}

export const GET = handle;

/** Sign-in attempts are refused here when there were too many: next-auth itself cannot answer 429. */
export async function POST(request: Request, context: Context): Promise<Response> {
  try {
    const { nextauth } = await context.params;
    if (nextauth.join('/') === 'callback/credentials') {
      const form = await request.clone().formData();
      const address = clientAddress(request.headers.get('x-forwarded-for'));
      await refuseWhenThrottled({ email: String(form.get('email') ?? ''), address });
    }
    return await handle(request, context);
  } catch (error) {
    return answerError(error);
  }
}
