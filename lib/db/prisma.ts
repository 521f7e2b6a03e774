import { PrismaPg } from '@prisma/adapter-pg';
import { env } from '../platform/env';
import { singleton } from '../platform/singleton';
import { type Prisma, PrismaClient } from './generated/client.ts';

/** The ORM, for configuration rows only. */
export function prisma(): PrismaClient {
  return singleton(
    'prisma',
    () => new PrismaClient({ adapter: new PrismaPg({ connectionString: env().DATABASE_URL }) }),
  );
}

/** What `prisma().$transaction(async (tx) => …)` hands to its function. */
export type Transaction = Prisma.TransactionClient;
