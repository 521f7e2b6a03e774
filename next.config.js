/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // types are checked by `npm run verify`, not again in every build
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: ['pg', 'pino', '@prisma/client', '@prisma/adapter-pg'],
  // Next streams a page's <link rel="icon"> after its content, so browsers ask for this path before they read it
  rewrites: async () => [{ source: '/favicon.ico', destination: '/icon.svg' }],
  turbopack: { root: import.meta.dirname },
};
