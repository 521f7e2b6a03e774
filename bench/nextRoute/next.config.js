import path from 'node:path';

export default {
  serverExternalPackages: ['pg', 'pino', '@prisma/client', '@prisma/adapter-pg'],
  turbopack: { root: path.resolve(import.meta.dirname, '../..') },
};
