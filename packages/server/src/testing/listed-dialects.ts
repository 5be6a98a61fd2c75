/** The dialect list of a server with default settings, without starting one. */
import { openDialect, type ServerContext } from '../compose/dialects.ts';
import { loadConfig } from '../config/config.ts';
import { dialectList } from '../describe/dialect-list.ts';
import { DIALECTS } from '../dialects/index.ts';
import { ChannelBus } from '../dialects/shared/channel-bus.ts';
import type { DialectList } from '../dialects/shared/dialect-list.ts';
import { QUIET } from './pusher.ts';

/** `settings` are environment variables. */
export function listedDialects(settings: Record<string, string> = {}): Promise<DialectList> {
  const config = loadConfig([], settings, import.meta.dir);
  const ctx = { log: QUIET, now: Date.now, channels: new ChannelBus() } as unknown as ServerContext;
  return dialectList(DIALECTS.map((dialect) => openDialect(dialect, config, ctx)));
}
