/** State shared by all sockets and requests of the application. */
import type { Log } from '../../core/index.ts';
import type { Application } from './application.ts';
import { Channels } from './channels.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { Connections } from './connections.ts';
import { LIMITS, type Limits } from './limits.ts';
import { OtherNodes, type OtherNodesParts } from './other-nodes.ts';
import { RemoteMembers } from './remote-members.ts';

export type PusherServer = {
  readonly application: Application;
  readonly channels: Channels;
  readonly connected: Connections;
  readonly limits: Limits;
  readonly clock: Clock;
  /** null if there are no other nodes */
  nodes: OtherNodes | null;
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
    connected: new Connections(all),
    limits: all,
    clock,
    nodes: null,
  };
}

/** Serves the channels together with the other nodes of a cluster. */
export function joinNodes(
  server: PusherServer,
  parts: Pick<OtherNodesParts, 'transport' | 'authenticator' | 'log'>,
): void {
  const { channels, connected } = server;
  const nodes = new OtherNodes({ ...parts, channels, connected });
  const members = new RemoteMembers(parts.transport, (name, before) => channels.membersChanged(name, before));
  channels.attach({
    members,
    event: (event) => nodes.event(event),
    last: (channel) => nodes.last(channel),
  });
  server.nodes = nodes;
}
