/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // types are checked by `npm run verify`, not again in every build
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: ['pg', 'pino', '@prisma/client', '@prisma/adapter-pg'],
  turbopack: { root: import.meta.dirname },
};
