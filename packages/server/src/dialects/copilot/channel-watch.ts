/** Publishes the messages of a session on `private-session-<id>`. */
import { type ConnectionId, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { Transport } from '../../cluster/transport.ts';
import { type Engine, type Log, type SessionRef, sessionKey } from '../../core/index.ts';
import type { Subscriber } from '../../http/connection.ts';
import type { ChannelServer } from '../kit/channel-bus.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';

const PREFIX = 'private-session-';
/** The most sessions that are followed without a known subscriber; the oldest is dropped. */
const MAX_FOLLOWED = 1_000;

export const sessionChannel = (sessionId: string): string => PREFIX + sessionId;

export type ChannelWatch = {
  /** Publishes the messages of the session from now on. */
  follow(ref: SessionRef): Promise<void>;
  stop(): void;
};

/** Concurrent callers wait for the same subscription. */
type FollowedChannel = {
  readonly ref: SessionRef;
  readonly subscriber: ChannelSubscriber;
  readonly subscribed: Promise<unknown>;
};

export function watchChannels<State>(
  { engine, channels, log }: { engine: Engine; channels: ChannelServer; log: Log },
  hub: SubscriptionHub<State>,
): ChannelWatch {
  const followed = new Map<string, FollowedChannel>();
  /** channels of sessions with subscribers on this node */
  const wanted = new Set<string>();
  const elsewhere = channelSync(engine.transport, {
    sessionFollowed: (ref) => {
      const channel = sessionChannel(ref.id);
      if (wanted.has(channel)) follow(ref).catch(notFollowed(channel));
    },
    sessionOf: (channel) =>
      [...followed.values()].find(({ subscriber }) => subscriber.channel === channel)?.ref,
  });
  const notFollowed = (channel: string) => (thrown: unknown) =>
    log.error({ err: thrown, channel }, 'failed to follow channel');

  async function follow(ref: SessionRef): Promise<void> {
    const key = sessionKey(ref);
    // Channels are named by session id only, so a channel belongs to the first user with that id.
    const holder = followed.has(key) ? null : await engine.firstHolder(ref.id);
    if (holder && holder.owner !== ref.owner) return;
    await (followed.get(key) ?? begin(ref, key)).subscribed;
  }

  function begin(ref: SessionRef, key: string): FollowedChannel {
    const subscriber = new ChannelSubscriber(sessionChannel(ref.id), channels);
    const subscribed = hub.subscribe(ref, subscriber).catch((thrown) => {
      disconnect(key);
      throw thrown;
    });
    const begun = { ref, subscriber, subscribed };
    followed.set(key, begun);
    elsewhere.sessionFollowed(ref);
    for (const [oldest, { subscriber }] of followed) {
      if (followed.size <= MAX_FOLLOWED) break;
      log.debug({ channel: subscriber.channel }, 'stopped following channel');
      disconnect(oldest);
    }
    return begun;
  }

  function disconnect(key: string): void {
    const subscriber = followed.get(key)?.subscriber;
    if (!subscriber) return;
    followed.delete(key);
    subscriber.close();
    hub.leave(subscriber);
  }

  /** Returns false if there is no such session yet. */
  async function followSession(channel: string): Promise<boolean> {
    const holder = await engine.firstHolder(channel.slice(PREFIX.length));
    if (holder) await follow(holder);
    return holder !== null;
  }

  async function occupied(channel: string): Promise<void> {
    wanted.add(channel);
    if (!(await followSession(channel))) elsewhere.requestSession(channel);
  }

  const unwatch = channels.watch({
    prepare: (channel) =>
      channel.startsWith(PREFIX) ? followSession(channel).then(() => undefined, notFollowed(channel)) : null,
    occupied(channel) {
      if (channel.startsWith(PREFIX)) occupied(channel).catch(notFollowed(channel));
    },
    vacated(channel) {
      wanted.delete(channel);
      for (const [key, { subscriber }] of followed) if (subscriber.channel === channel) disconnect(key);
    },
  });

  return {
    follow,
    stop() {
      unwatch();
      elsewhere.stop();
      for (const key of [...followed.keys()]) disconnect(key);
    },
  };
}

/** Publishes frames on a channel, for everyone who is subscribed to it. */
class ChannelSubscriber implements Subscriber {
  readonly id: ConnectionId;
  open = true;

  constructor(
    readonly channel: string,
    private readonly channels: ChannelServer,
  ) {
    this.id = `channel ${channel}` as ConnectionId;
  }

  send(text: string, frame: object = JSON.parse(text)): void {
    const { type } = frame as { type?: unknown };
    if (this.open && typeof type === 'string') this.channels.publish(this.channel, type, frame);
  }

  close(): void {
    this.open = false;
  }
}

// Shares between nodes which sessions are followed for their channels. A client may subscribe on one node to
// the channel of a session that is created on another node later, so nodes announce the sessions they follow.

type ChannelSync = {
  /** This node starts to follow the session. */
  sessionFollowed(ref: SessionRef): void;
  /** The channel has subscribers here, but this node does not know its session. */
  requestSession(channel: string): void;
  stop(): void;
};

type LocalChannels = {
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

function channelSync(transport: Transport | null | undefined, here: LocalChannels): ChannelSync {
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
