/** What all sockets and requests of the application share. */
import type { Log } from '../../core/api/index.ts';
import type { Application } from './application.ts';
import { Channels } from './channels.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { Connected } from './connected.ts';
import { LIMITS, type Limits } from './limits.ts';

export type PusherServer = {
  readonly application: Application;
  readonly channels: Channels;
  readonly connected: Connected;
  readonly limits: Limits;
  readonly clock: Clock;
};

export function pusherServer(
  application: Application,
  log: Log,
  { limits = {}, clock = SYSTEM_CLOCK }: { limits?: Partial<Limits>; clock?: Clock } = {},
): PusherServer {
  const all = { ...LIMITS, ...limits };
  return {
    application,
    channels: new Channels(clock, all, log),
    connected: new Connected(all),
    limits: all,
    clock,
  };
}
