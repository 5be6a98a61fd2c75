/** The dialects of a server without starting it, for routes and descriptions. */
import { openDialect, type ServerContext } from '../compose/dialects.ts';
import { loadConfig } from '../config/config.ts';
import { ChannelBus } from '../dialects/kit/channel-bus.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import type { ServedDialect } from '../dialects/kit/routes.ts';
import { QUIET } from './pusher.ts';

/** `settings` are environment variables. */
export function unstartedDialects(
  dialects: readonly Dialect[],
  settings: Record<string, string> = {},
): ServedDialect[] {
  const config = loadConfig([], settings, import.meta.dir);
  const ctx = { engine: { transport: null }, log: QUIET, now: Date.now, channels: new ChannelBus() };
  return dialects.map((dialect) => openDialect(dialect, config, ctx as unknown as ServerContext));
}
