import { NO_METER } from '../../packages/server/src/core/ports/telemetry.ts';

const ignore = () => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export const benchNode = (node: string, url: string) => ({
  node,
  server: { url },
  cluster: 'bench',
  secret: 'bench',
  log: SILENT,
  meter: NO_METER,
});

/** User and kernel time of this process. */
export function ownCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
