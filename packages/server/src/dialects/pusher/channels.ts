/** The channels and their subscribers. An event is encoded once for all subscribers of a channel. */
import type { Log } from '../../core/api/index.ts';
import type { Subscriber } from '../../http/connection.ts';
import type { ChannelServer, OccupancyWatcher } from '../shared/channel-bus.ts';
import type { Clock } from './clock.ts';
import { LastEvents } from './last-events.ts';
import type { Limits } from './limits.ts';
import { isCache, kindOf } from './names.ts';
import { encoded, relayed } from './protocol.ts';

/** Receives the events of channels; `id` is the socket_id. */
export type ChannelSubscriber = Pick<Subscriber, 'send'> & { readonly id: string };

/** The user of a subscriber on a presence channel. */
export type Member = { readonly user_id: string; readonly user_info?: unknown };

type Subscription = { readonly subscriber: ChannelSubscriber; readonly member: Member | null };
type Channel = {
  readonly subscriptions: Map<string, Subscription>;
  /** One entry per user, with the number of its sockets. */
  readonly members: Map<string, { readonly member: Member; sockets: number }>;
};

export type ChannelEvent = {
  readonly event: string;
  readonly data: unknown;
  /** the socket that is not sent it */
  readonly except?: string;
};

export class Channels implements ChannelServer {
  /** Only occupied channels. */
  readonly #channels = new Map<string, Channel>();
  readonly #watchers = new Set<OccupancyWatcher>();
  readonly #lastEvents: LastEvents;

  constructor(
    clock: Clock,
    private readonly limits: Limits,
    private readonly log: Log,
  ) {
    this.#lastEvents = new LastEvents(clock, limits);
  }

  /**
   * Subscribes, confirms it to the subscriber, and announces a new member to the others. `member` is the user on a
   * presence channel and null on other channels.
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
    if (member && !known && channel.members.size >= this.limits.membersPerChannel) return 'full';
    this.#channels.set(name, channel);
    channel.subscriptions.set(subscriber.id, { subscriber, member });
    if (known) known.sockets++;
    else if (member) channel.members.set(member.user_id, { member, sockets: 1 });
    subscriber.send(encoded('pusher_internal:subscription_succeeded', name, welcome(name, channel)));
    if (isCache(name))
      subscriber.send(this.#lastEvents.recall(name) ?? encoded('pusher:cache_miss', name, {}));
    if (member && !known)
      this.#send(channel, encoded('pusher_internal:member_added', name, member), subscriber.id);
    if (!existing) this.#notify('occupied', name);
    return 'subscribed';
  }

  /** Unsubscribes, and announces a member that has left to the others. Does nothing without a subscription. */
  unsubscribe(name: string, id: string): void {
    const channel = this.#channels.get(name);
    const subscription = channel?.subscriptions.get(id);
    if (!channel || !subscription) return;
    channel.subscriptions.delete(id);
    const user = subscription.member?.user_id;
    const entry = user === undefined ? undefined : channel.members.get(user);
    if (user !== undefined && entry && --entry.sockets === 0) {
      channel.members.delete(user);
      this.#send(channel, encoded('pusher_internal:member_removed', name, { user_id: user }));
    }
    if (channel.subscriptions.size > 0) return;
    this.#channels.delete(name);
    this.#notify('vacated', name);
  }

  publish(name: string, event: string, data: unknown): void {
    this.send(name, { event, data });
  }

  /** Sends an event to all subscribers but `except`. */
  send(name: string, { event, data, except }: ChannelEvent): void {
    const channel = this.#channels.get(name);
    const cached = isCache(name);
    if (!channel && !cached) return;
    const text = encoded(event, name, data);
    if (cached) this.#lastEvents.remember(name, text);
    if (channel) this.#send(channel, text, except);
  }

  /** Sends a client event to everyone but its sender, who must be subscribed. */
  relay(name: string, { event, data }: ChannelEvent, sender: string): void {
    const channel = this.#channels.get(name);
    const subscription = channel?.subscriptions.get(sender);
    if (channel && subscription)
      this.#send(
        channel,
        relayed({ event, channel: name, data, user_id: subscription.member?.user_id }),
        sender,
      );
  }

  watch(watcher: OccupancyWatcher): () => void {
    this.#watchers.add(watcher);
    for (const name of [...this.#channels.keys()]) this.#notify('occupied', name, [watcher]);
    return () => this.#watchers.delete(watcher);
  }

  /** The names of occupied channels. */
  names(): string[] {
    return [...this.#channels.keys()];
  }

  subscribers(name: string): number {
    return this.#channels.get(name)?.subscriptions.size ?? 0;
  }

  /** The users of a presence channel, each once. */
  members(name: string): string[] {
    return [...(this.#channels.get(name)?.members.keys() ?? [])];
  }

  #send(channel: Channel, text: string, except?: string): void {
    for (const { subscriber } of channel.subscriptions.values()) {
      if (subscriber.id !== except) subscriber.send(text);
    }
  }

  #notify(
    change: keyof OccupancyWatcher,
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

function welcome(name: string, { members }: Channel): object {
  if (kindOf(name) !== 'presence') return {};
  const hash = Object.fromEntries([...members].map(([id, { member }]) => [id, member.user_info ?? null]));
  return { presence: { ids: [...members.keys()], hash, count: members.size } };
}
