# syntax=docker/dockerfile:1

# What the server needs at run time: the production dependencies, Bun among them, without those of the console.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/cli/package.json packages/cli/
COPY packages/cli/bin packages/cli/bin
COPY packages/copilot/package.json packages/copilot/
COPY packages/extension/package.json packages/extension/
COPY packages/offline/package.json packages/offline/
COPY packages/protocol/package.json packages/protocol/
COPY packages/sdk/package.json packages/sdk/
COPY packages/server/package.json packages/server/
COPY packages/web/package.json packages/web/
# bunx is the same program under a second name: copied into an image it would take its size again.
RUN npm ci --omit=dev --workspace packages/cli --workspace packages/server --include-workspace-root \
  && rm -f node_modules/bun/bin/bunx.exe node_modules/.bin/bunx

# The console as browsers load it, and the server as one program. What they are built with stays here.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY packages packages
RUN npm ci --omit=dev && npm run build

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
COPY packages/cli packages/cli
COPY packages/copilot packages/copilot
COPY packages/offline packages/offline
COPY packages/protocol packages/protocol
COPY packages/server packages/server
COPY --from=build /app/packages/cli/dist packages/cli/dist
COPY --from=build /app/packages/web/dist packages/web/dist
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
