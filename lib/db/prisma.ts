import { PrismaPg } from '@prisma/adapter-pg';
import { env } from '../platform/env';
import { singleton } from '../platform/singleton';
import { PrismaClient } from './generated/client.ts';

/** The ORM, for configuration rows only. */
export function prisma(): PrismaClient {
  return singleton(
    'prisma',
    () => new PrismaClient({ adapter: new PrismaPg({ connectionString: env().DATABASE_URL }) }),
  );
}
