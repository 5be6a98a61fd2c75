/**
 * Shares between nodes which sessions are followed for their channels. A client may subscribe on one node to
 * the channel of a session that is created on another node later, so nodes announce the sessions they follow.
 */
import { PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef, Transport } from '../../core/api/index.ts';

export type FollowedElsewhere = {
  /** This node starts to follow the session. */
  began(ref: SessionRef): void;
  /** The channel has subscribers here, but this node does not know its session. */
  wanted(channel: string): void;
  stop(): void;
};

export type FollowedHere = {
  /** Another node follows the session. */
  began(ref: SessionRef): void;
  /** The session that this node follows for the channel. */
  sessionOf(channel: string): SessionRef | undefined;
};

const BEGAN = 'channel.session';
const WANTED = 'channel.wanted';

const Began = z.object({ owner: PrincipalId, id: SessionId });
const Wanted = z.object({ channel: z.string() });

const ALONE: FollowedElsewhere = { began: ignore, wanted: ignore, stop: ignore };

export function followedElsewhere(
  transport: Transport | null | undefined,
  here: FollowedHere,
): FollowedElsewhere {
  if (!transport) return ALONE;
  const bodyOf = ({ owner, id }: SessionRef) => ({ kind: BEGAN, body: { owner, id } });
  const ends = [
    transport.on(BEGAN, (body) => here.began(Began.parse(body))),
    transport.on(WANTED, (body, from) => {
      const ref = here.sessionOf(Wanted.parse(body).channel);
      if (ref) transport.send([from], bodyOf(ref));
    }),
  ];
  return {
    began: (ref) => transport.broadcast(bodyOf(ref)),
    wanted: (channel) => transport.broadcast({ kind: WANTED, body: { channel } }),
    stop() {
      for (const end of ends) end();
    },
  };
}

function ignore(): void {
  // A single node has no others to notify.
}
