# `npm run images:pin` adds the digests of the base images.

# What the server needs at run time: Bun. Everything else is in the program that is built below.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# bunx is the same program under a second name: copied into an image it would take its size again.
RUN npm ci --omit=dev --workspaces=false \
  && rm -f node_modules/bun/bin/bunx.exe node_modules/.bin/bunx

# The console and the documentation as browsers load them, the extension, and the server as one program. What they are
# built with stays here.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY packages packages
RUN npm ci
COPY scripts scripts
COPY docs docs
RUN npm run build && npm run build:extension && npm run build:docs && test -f docs/.vitepress/dist/manifest.json

FROM debian:12-slim
# bubblewrap is the sandbox of commands, ripgrep searches files, tini passes signals on and buries orphans.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates ripgrep tini \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 parlance \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /workspace --shell /usr/sbin/nologin parlance \
  && install -d -o 10001 -g 10001 -m 0700 /data /workspace
WORKDIR /app
# All of it belongs to root: the server cannot change its own code.
COPY --from=dependencies /app ./
COPY LICENSE ./
COPY packages/cli/bin packages/cli/bin
COPY --from=build /app/packages/cli/dist packages/cli/dist
COPY --from=build /app/packages/web/dist packages/web/dist
COPY --from=build /app/packages/extension/dist packages/extension/dist
COPY --from=build /app/docs/.vitepress/dist docs/.vitepress/dist
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=3000 \
  PARLANCE_AUTH=required \
  PARLANCE_DATA=/data \
  WORKING_DIRECTORY=/workspace
USER 10001:10001
VOLUME ["/data", "/workspace"]
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/app/node_modules/.bin/bun", "--config=/dev/null", "--no-env-file", "-e", "const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT}/health`); process.exit(ok ? 0 : 1)"]
ENTRYPOINT ["/usr/bin/tini", "--", "/app/packages/cli/bin/parlance"]
CMD ["serve"]
