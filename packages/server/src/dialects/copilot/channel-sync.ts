/**
 * Shares between nodes which sessions are followed for their channels. A client may subscribe on one node to
 * the channel of a session that is created on another node later, so nodes announce the sessions they follow.
 */
import { PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef, Transport } from '../../core/api/index.ts';

export type ChannelSync = {
  /** This node starts to follow the session. */
  sessionFollowed(ref: SessionRef): void;
  /** The channel has subscribers here, but this node does not know its session. */
  requestSession(channel: string): void;
  stop(): void;
};

export type LocalChannels = {
  /** Another node follows the session. */
  sessionFollowed(ref: SessionRef): void;
  /** The session that this node follows for the channel. */
  sessionOf(channel: string): SessionRef | undefined;
};

const SESSION_FOLLOWED = 'channel.session';
const SESSION_REQUESTED = 'channel.wanted';

const FollowedSession = z.object({ owner: PrincipalId, id: SessionId });
const SessionRequest = z.object({ channel: z.string() });

const SINGLE_NODE: ChannelSync = { sessionFollowed: ignore, requestSession: ignore, stop: ignore };

export function channelSync(transport: Transport | null | undefined, here: LocalChannels): ChannelSync {
  if (!transport) return SINGLE_NODE;
  const bodyOf = ({ owner, id }: SessionRef) => ({ kind: SESSION_FOLLOWED, body: { owner, id } });
  const ends = [
    transport.on(SESSION_FOLLOWED, (body) => here.sessionFollowed(FollowedSession.parse(body))),
    transport.on(SESSION_REQUESTED, (body, from) => {
      const ref = here.sessionOf(SessionRequest.parse(body).channel);
      if (ref) transport.send([from], bodyOf(ref));
    }),
  ];
  return {
    sessionFollowed: (ref) => transport.broadcast(bodyOf(ref)),
    requestSession: (channel) => transport.broadcast({ kind: SESSION_REQUESTED, body: { channel } }),
    stop() {
      for (const end of ends) end();
    },
  };
}

function ignore(): void {
  // A single node has no others to notify.
}
