/** The channels and their subscribers. An event is encoded once for all subscribers of a channel. */
import { z } from 'zod';
import type { Log } from '../../core/index.ts';
import type { Subscriber } from '../../http/connection.ts';
import { LruMap } from '../../lib/lru-map.ts';
import type { ChannelServer, OccupancyWatcher } from '../kit/channel-bus.ts';
import { encoded, isCache, kindOf, type Limits, type Member } from './contract.ts';

/** Receives the events of channels; `id` is the socket_id. */
export type ChannelSubscriber = Pick<Subscriber, 'send'> & { readonly id: string };

type Subscription = { readonly subscriber: ChannelSubscriber; readonly member: Member | null };
type Channel = {
  readonly subscriptions: Map<string, Subscription>;
  /** one entry per user, with the number of its sockets */
  readonly members: Map<string, { readonly member: Member; sockets: number }>;
};

export type ChannelEvent = {
  readonly event: string;
  readonly data: unknown;
  /** the socket to skip */
  readonly except?: string;
};

// What nodes tell each other about their channels.

/** An event as subscribers receive it. */
export const RemoteEvent = z.object({
  channel: z.string(),
  text: z.string(),
  /** the socket to skip */
  except: z.string().optional(),
  /** keep it for later subscribers of a cache channel */
  remember: z.boolean(),
});
export type RemoteEvent = z.infer<typeof RemoteEvent>;

/** Selects channels: the named ones, or all with a prefix. */
export const StateQuery = z.union([
  z.object({ names: z.array(z.string()) }),
  z.object({ prefix: z.string() }),
]);
export type StateQuery = z.infer<typeof StateQuery>;

export const ChannelStates = z.record(
  z.string(),
  z.object({ subscribers: z.number(), users: z.array(z.string()) }),
);
export type ChannelStates = z.infer<typeof ChannelStates>;

/**
 * The last event of a cache channel as subscribers receive it. Sent with its age, because clocks of nodes
 * differ.
 */
export const LastEvent = z.object({ text: z.string(), ageMs: z.number() });
export type LastEvent = z.infer<typeof LastEvent>;

/** The subscribers on other nodes. */
export type Remote = {
  readonly members: RemoteMembers;
  event(event: RemoteEvent): void;
  /** The last event of a cache channel, from another node. */
  last(channel: string): Promise<LastEvent | null>;
};

/** Members of presence channels on other nodes, for channels with subscribers on this node. */
export interface RemoteMembers {
  /** Resolves when the members of the channel are known; null if they already are. */
  open(channel: string): Promise<void> | null;
  close(channel: string): void;
  of(channel: string): ReadonlyMap<string, Member>;
  /** The first socket of the user on this node has joined. */
  add(channel: string, member: Member): void;
  /** The last socket of the user on this node has left. */
  remove(channel: string, user: string): void;
}

export class Channels implements ChannelServer {
  /** occupied channels only */
  readonly #channels = new Map<string, Channel>();
  readonly #watchers = new Set<OccupancyWatcher>();
  readonly #lastEvents: LastEvents;
  #remote: Remote | null = null;

  constructor(
    now: () => number,
    private readonly limits: Limits,
    private readonly log: Log,
  ) {
    this.#lastEvents = new LastEvents(now, limits);
  }

  attach(remote: Remote): void {
    this.#remote = remote;
  }

  /**
   * Call before `subscribe`: resolves when those who publish there are ready, and all members of the channel and its last
   * event are known; null if they already are.
   */
  prepare(name: string): Promise<unknown> | null {
    const watchers = this.#channels.has(name) ? [] : [...this.#watchers];
    const waits = [
      ...watchers.map((watcher) => watcher.prepare?.(name)),
      kindOf(name) === 'presence' ? this.#remote?.members.open(name) : null,
      isCache(name) && !this.#lastEvents.isComplete(name)
        ? this.#remote?.last(name).then((last) => last && this.#lastEvents.learn(name, last))
        : null,
    ].filter((wait) => wait != null);
    return waits.length === 0 ? null : Promise.all(waits);
  }

  /** The last event of a cache channel on this node. */
  last(name: string): LastEvent | null {
    return isCache(name) ? this.#lastEvents.recall(name) : null;
  }

  /** Events of other nodes may have been missed until now. */
  missedSome(): void {
    this.#lastEvents.missedSome();
  }

  /** Call instead of `subscribe` if a prepared subscription is given up. */
  release(name: string): void {
    if (!this.#channels.has(name)) this.#remote?.members.close(name);
  }

  /**
   * Subscribes, confirms it to the subscriber, and announces a new member to the others. `member` is the user
   * on a presence channel, null on other channels.
   */
  subscribe(
    name: string,
    subscriber: ChannelSubscriber,
    member: Member | null,
  ): 'subscribed' | 'already' | 'full' {
    const existing = this.#channels.get(name);
    if (existing?.subscriptions.has(subscriber.id)) return 'already';
    const channel: Channel = existing ?? { subscriptions: new Map(), members: new Map() };
    const known = member ? channel.members.get(member.user_id) : undefined;
    const isNew = member !== null && !known && !this.#membersElsewhere(name).has(member.user_id);
    if (isNew && this.#membersOf(name, channel).size >= this.limits.membersPerChannel) return 'full';
    this.#channels.set(name, channel);
    channel.subscriptions.set(subscriber.id, { subscriber, member });
    if (known) known.sockets++;
    else if (member) {
      channel.members.set(member.user_id, { member, sockets: 1 });
      this.#remote?.members.add(name, member);
    }
    const welcome = kindOf(name) === 'presence' ? presence(this.#membersOf(name, channel)) : {};
    subscriber.send(encoded('pusher_internal:subscription_succeeded', name, welcome));
    if (isCache(name))
      subscriber.send(this.#lastEvents.recall(name)?.text ?? encoded('pusher:cache_miss', name, {}));
    if (isNew) this.#send(channel, encoded('pusher_internal:member_added', name, member), subscriber.id);
    if (!existing) this.#notify('occupied', name);
    return 'subscribed';
  }

  /** Unsubscribes, and announces to the others if a member has left. Does nothing without a subscription. */
  unsubscribe(name: string, id: string): void {
    const channel = this.#channels.get(name);
    const subscription = channel?.subscriptions.get(id);
    if (!channel || !subscription) return;
    channel.subscriptions.delete(id);
    const user = subscription.member?.user_id;
    const entry = user === undefined ? undefined : channel.members.get(user);
    if (user !== undefined && entry && --entry.sockets === 0) {
      channel.members.delete(user);
      this.#remote?.members.remove(name, user);
      if (!this.#membersElsewhere(name).has(user))
        this.#send(channel, encoded('pusher_internal:member_removed', name, { user_id: user }));
    }
    if (channel.subscriptions.size > 0) return;
    this.#channels.delete(name);
    this.#remote?.members.close(name);
    this.#notify('vacated', name);
  }

  publish(name: string, event: string, data: unknown): void {
    this.#publish(name, { event, data });
  }

  broadcast(name: string, event: string, data: unknown): void {
    this.send(name, { event, data });
  }

  /** Sends an event to all subscribers except `except`, on all nodes. */
  send(name: string, sent: ChannelEvent): void {
    this.#publish(name, sent);
    const { event, data, except } = sent;
    this.#remote?.event({ channel: name, text: encoded(event, name, data), except, remember: true });
  }

  /** Sends a client event to all other subscribers. The sender must be subscribed. */
  relay(name: string, { event, data }: ChannelEvent, sender: string): void {
    const subscription = this.#channels.get(name)?.subscriptions.get(sender);
    if (!subscription) return;
    // Unlike other events, a client event has its data unchanged.
    const text = JSON.stringify({ event, channel: name, data, user_id: subscription.member?.user_id });
    const sent = { channel: name, text, except: sender, remember: false };
    this.deliver(sent);
    this.#remote?.event(sent);
  }

  /** Sends an event to the subscribers on this node. */
  deliver({ channel: name, text, except, remember }: RemoteEvent): void {
    if (remember && isCache(name)) this.#lastEvents.remember(name, text);
    const channel = this.#channels.get(name);
    if (channel) this.#send(channel, text, except);
  }

  /**
   * Notifies the subscribers on this node of users that joined or left on other nodes. `before` are the
   * previous members.
   */
  membersChanged(name: string, before: ReadonlyMap<string, Member>): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    const after = this.#membersElsewhere(name);
    for (const [user, member] of after)
      if (!before.has(user) && !channel.members.has(user))
        this.#send(channel, encoded('pusher_internal:member_added', name, member));
    for (const user of before.keys())
      if (!after.has(user) && !channel.members.has(user))
        this.#send(channel, encoded('pusher_internal:member_removed', name, { user_id: user }));
  }

  watch(watcher: OccupancyWatcher): () => void {
    this.#watchers.add(watcher);
    for (const name of [...this.#channels.keys()]) this.#notify('occupied', name, [watcher]);
    return () => this.#watchers.delete(watcher);
  }

  /** Occupied channels of this node, with their users if they are presence channels. */
  states(query: StateQuery): ChannelStates {
    const names =
      'names' in query
        ? query.names
        : [...this.#channels.keys()].filter((name) => name.startsWith(query.prefix));
    return Object.fromEntries(
      names.flatMap((name) => {
        const channel = this.#channels.get(name);
        if (!channel) return [];
        return [[name, { subscribers: channel.subscriptions.size, users: [...channel.members.keys()] }]];
      }),
    );
  }

  #publish(name: string, { event, data, except }: ChannelEvent): void {
    if (!this.#channels.has(name) && !isCache(name)) return;
    this.deliver({ channel: name, text: encoded(event, name, data), except, remember: true });
  }

  #membersElsewhere(name: string): ReadonlyMap<string, Member> {
    return this.#remote?.members.of(name) ?? NOBODY;
  }

  #membersOf(name: string, { members }: Channel): Map<string, Member> {
    const own = [...members].map(([user, { member }]) => [user, member] as const);
    return new Map([...own, ...this.#membersElsewhere(name)]);
  }

  #send(channel: Channel, text: string, except?: string): void {
    for (const { subscriber } of channel.subscriptions.values()) {
      if (subscriber.id !== except) subscriber.send(text);
    }
  }

  #notify(
    change: 'occupied' | 'vacated',
    name: string,
    watchers: Iterable<OccupancyWatcher> = this.#watchers,
  ) {
    for (const watcher of watchers) {
      try {
        watcher[change](name);
      } catch (thrown) {
        this.log.error({ err: thrown, channel: name }, 'channel watcher failed');
      }
    }
  }
}

export const NOBODY: ReadonlyMap<string, Member> = new Map();

function presence(members: ReadonlyMap<string, Member>): object {
  const hash = Object.fromEntries([...members].map(([id, { user_info }]) => [id, user_info ?? null]));
  return { presence: { ids: [...members.keys()], hash, count: members.size } };
}

// The last event of each cache channel, for later subscribers.

class LastEvents {
  readonly #events: LruMap<{ readonly text: string; readonly at: number }>;
  /** until this time events of other nodes may have been missed */
  #incompleteUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly now: () => number,
    private readonly limits: Limits,
  ) {
    this.#events = new LruMap(limits.rememberedChannels);
  }

  remember(channel: string, text: string): void {
    this.learn(channel, { text, ageMs: 0 });
  }

  /** Adds an event that this node may have missed. The newer one is kept. */
  learn(channel: string, { text, ageMs }: LastEvent): void {
    const at = this.now() - ageMs;
    if (at >= (this.#events.get(channel)?.at ?? at)) this.#events.set(channel, { text, at });
  }

  recall(channel: string): LastEvent | null {
    const event = this.#events.get(channel);
    if (!event) return null;
    const ageMs = this.now() - event.at;
    if (ageMs < this.limits.rememberedMs) return { text: event.text, ageMs };
    this.#events.delete(channel);
    return null;
  }

  /** False if another node may have a later event. */
  isComplete(channel: string): boolean {
    const event = this.#events.get(channel);
    return event !== undefined && event.at > this.#incompleteUntil;
  }

  /** Events of other nodes may have been missed until now. */
  missedSome(): void {
    this.#incompleteUntil = this.now();
  }
}
