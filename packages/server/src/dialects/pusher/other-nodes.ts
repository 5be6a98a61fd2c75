/** Channels on several nodes: events, counts, members, permits and terminations reach sockets on any node. */
import { createHash } from 'node:crypto';
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import type { FollowedEntries, Transport } from '../../cluster/transport.ts';
import type { Log } from '../../core/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import { ChannelStates, LastEvent, NOBODY, RemoteEvent, type RemoteMembers, StateQuery } from './channels.ts';
import type { Member } from './contract.ts';
import type { Nodes, PusherServer } from './server.ts';

type Parts = { readonly transport: Transport; readonly authenticator: Authenticator; readonly log: Log };

/** Serves the channels together with the other nodes of a cluster. */
export function joinNodes(server: PusherServer, parts: Parts): void {
  const { channels } = server;
  const nodes = new OtherNodes(server, parts);
  const members = new TransportMembers(parts.transport, (name, before) =>
    channels.membersChanged(name, before),
  );
  channels.attach({ members, event: (event) => nodes.event(event), last: (channel) => nodes.last(channel) });
  server.nodes = nodes;
}

// Messages beside those of the channels.

const KINDS = {
  event: 'channel.event',
  terminate: 'channel.terminate',
  state: 'channel.state',
  last: 'channel.last',
  /** signed, because it opens a channel */
  permit: 'channel.permit',
  close: 'channel.close',
  closed: 'channel.closed',
} as const;

const Terminate = z.object({ user: z.string() });
const LastQuery = z.object({ channel: z.string() });
const Permit = z.object({
  socket: z.string(),
  channel: z.string().nullable(),
  /** names the token that the sender watches; null if there is none */
  watch: z.string().nullable(),
});
/** `elsewhere`: the node has no such socket. */
const Permitted = z.enum(['permitted', 'elsewhere', 'refused']);
const Close = z.object({ socket: z.string(), reason: z.string() });
const Closed = z.object({ socket: z.string(), watch: z.string() });

const ANSWER_MS = 300;

class OtherNodes implements Nodes {
  readonly #tokens: RemoteTokens;
  #known: readonly string[];

  constructor(
    private readonly server: Pick<PusherServer, 'channels' | 'connected'>,
    private readonly parts: Parts,
  ) {
    const { channels, connected } = server;
    const { transport } = parts;
    this.#tokens = new RemoteTokens(parts);
    this.#known = transport.others.nodes;
    transport.others.onChange(() => this.#nodesChanged());
    transport.on(KINDS.event, (body) => channels.deliver(RemoteEvent.parse(body)));
    transport.on(KINDS.terminate, (body) => connected.terminate(Terminate.parse(body).user));
    transport.on(KINDS.closed, (body, from) => this.#tokens.socketClosed(from, Closed.parse(body)));
    transport.respond(KINDS.state, (body) => channels.states(StateQuery.parse(body)));
    transport.respond(KINDS.last, (body) => channels.last(LastQuery.parse(body).channel));
    transport.onUp(() => channels.missedSome());
    transport.onLost(() => channels.missedSome());
    transport.respond(KINDS.permit, (body, from) => this.#permitHere(Permit.parse(body), from));
    transport.respond(KINDS.close, (body) => {
      const { socket, reason } = Close.parse(body);
      connected.close(socket, reason);
      return null;
    });
  }

  /** Sends an event to the subscribers on the other nodes. */
  event(event: RemoteEvent): void {
    const { except, ...rest } = event;
    const body = except === undefined ? rest : { ...rest, except };
    this.parts.transport.broadcast({ kind: KINDS.event, body });
  }

  terminate(user: string): void {
    this.parts.transport.broadcast({ kind: KINDS.terminate, body: { user } });
  }

  async states(query: StateQuery): Promise<ChannelStates> {
    const answers = await this.#ask(KINDS.state, query);
    const states = answers.map(({ answer }) => ChannelStates.safeParse(answer).data ?? {});
    return merged([this.server.channels.states(query), ...states]);
  }

  /** The last event of a cache channel on another node; null if there is none. */
  async last(channel: string): Promise<LastEvent | null> {
    const answers = await this.#ask(KINDS.last, { channel });
    const events = answers.flatMap(({ answer }) => LastEvent.safeParse(answer).data ?? []);
    return events.sort((one, other) => one.ageMs - other.ageMs)[0] ?? null;
  }

  /** The token is not sent: this node watches it and notifies the socket's node when it is revoked. */
  async permit(socket: string, channel: string | null, token: string | null): Promise<void> {
    const watch = token === null ? null : nameOf(token);
    const answers = await this.#ask(KINDS.permit, { socket, channel, watch });
    const host = answers.find(({ answer }) => Permitted.safeParse(answer).data === 'permitted')?.node;
    if (answers.some(({ answer }) => answer === 'refused'))
      throw new Fault('forbidden', 'The socket depends on too many tokens.');
    if (host !== undefined && token !== null) this.#tokens.watch(host, socket, token);
  }

  #permitHere({ socket, channel, watch }: z.infer<typeof Permit>, from: string): z.infer<typeof Permitted> {
    const { connected } = this.server;
    const { transport } = this.parts;
    if (!connected.has(socket)) return 'elsewhere';
    const ended = () => transport.send([from], { kind: KINDS.closed, body: { socket, watch: watch ?? '' } });
    if (watch !== null && !connected.dependOn(socket, `${from} ${watch}`, () => ended)) return 'refused';
    if (channel !== null) connected.permit(socket, channel);
    return 'permitted';
  }

  /** Tokens of sockets that a failed node authorised are no longer watched, so these sockets must reconnect. */
  #nodesChanged(): void {
    const { nodes } = this.parts.transport.others;
    for (const node of this.#known.filter((known) => !nodes.includes(known))) {
      this.server.connected.closeDependents(`${node} `, 'Please connect again.');
      this.#tokens.nodeGone(node);
    }
    this.#known = nodes;
  }

  async #ask(
    kind: string,
    body: StateQuery | z.infer<typeof LastQuery> | z.infer<typeof Permit>,
  ): Promise<{ node: string; answer: unknown }[]> {
    const { transport } = this.parts;
    const requests = transport.others.nodes.map(async (node) => ({
      node,
      answer: await transport.request(node, { kind, body }, ANSWER_MS),
    }));
    const answers = await Promise.allSettled(requests);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }
}

function merged(all: readonly ChannelStates[]): ChannelStates {
  const result: ChannelStates = {};
  for (const [name, { subscribers, users }] of all.flatMap((states) => Object.entries(states))) {
    const known = result[name];
    result[name] = {
      subscribers: subscribers + (known?.subscribers ?? 0),
      users: [...new Set([...(known?.users ?? []), ...users])],
    };
  }
  return result;
}

// Members of presence channels

const MemberEntry = z.object({ user_id: z.string(), user_info: z.json().optional() });

type Followed = { readonly followed: FollowedEntries; members: ReadonlyMap<string, Member>; ready: boolean };
type Changed = (channel: string, before: ReadonlyMap<string, Member>) => void;

class TransportMembers implements RemoteMembers {
  readonly #channels = new Map<string, Followed>();
  /** functions that remove the entry of a member of this node */
  readonly #own = new Map<string, () => void>();

  constructor(
    private readonly transport: Transport,
    /** called after the members of a channel have changed */
    private readonly changed: Changed,
  ) {}

  open(channel: string): Promise<void> | null {
    const existing = this.#channels.get(channel);
    if (existing?.ready) return null;
    if (existing) return existing.followed.ready;
    const followed = this.transport.registry.follow([registryKey(channel)]);
    const remote: Followed = { followed, members: NOBODY, ready: false };
    this.#channels.set(channel, remote);
    followed.onChange(() => this.#update(channel, remote));
    return followed.ready.then(() => {
      remote.ready = true;
    });
  }

  close(channel: string): void {
    this.#channels.get(channel)?.followed.close();
    this.#channels.delete(channel);
  }

  of(channel: string): ReadonlyMap<string, Member> {
    return this.#channels.get(channel)?.members ?? NOBODY;
  }

  add(channel: string, member: Member): void {
    const value = MemberEntry.parse(member);
    const end = this.transport.registry.add(registryKey(channel), { id: member.user_id, value });
    this.#own.set(memberOf(channel, member.user_id), end);
  }

  remove(channel: string, user: string): void {
    const name = memberOf(channel, user);
    this.#own.get(name)?.();
    this.#own.delete(name);
  }

  #update(channel: string, remote: Followed): void {
    const before = remote.members;
    const members = new Map<string, Member>();
    for (const { value } of remote.followed.entries) {
      const { success, data } = MemberEntry.safeParse(value);
      if (success) members.set(data.user_id, data);
    }
    remote.members = members;
    if (remote.ready) this.changed(channel, before);
  }
}

const registryKey = (channel: string): string => `p:${channel}`;
const memberOf = (channel: string, user: string): string => JSON.stringify([channel, user]);

// Tokens presented to this node for sockets of other nodes

const CLOSE_MS = 1_000;
const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 60;

class RemoteTokens {
  /** functions that stop a watch, by node, socket and token */
  readonly #watches = new Map<string, () => void>();

  constructor(private readonly parts: Parts) {}

  /** Closes the socket when the token becomes invalid. */
  watch(node: string, socket: string, token: string): void {
    const key = watchKey(node, socket, nameOf(token));
    if (this.#watches.has(key)) return;
    const end = this.parts.authenticator.onTokenRevoked(token, (reason) => {
      this.#watches.delete(key);
      void this.#close(node, socket, reason);
    });
    this.#watches.set(key, end);
  }

  socketClosed(node: string, { socket, watch }: z.infer<typeof Closed>): void {
    const key = watchKey(node, socket, watch);
    this.#watches.get(key)?.();
    this.#watches.delete(key);
  }

  nodeGone(node: string): void {
    for (const [key, end] of this.#watches) {
      if (!key.startsWith(`${node} `)) continue;
      end();
      this.#watches.delete(key);
    }
  }

  /** Retries until the node has closed the socket or has failed: the bus may be down briefly. */
  async #close(node: string, socket: string, reason: string): Promise<void> {
    const { transport, log } = this.parts;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      try {
        await transport.request(node, { kind: KINDS.close, body: { socket, reason } }, CLOSE_MS);
        return;
      } catch {
        if (!transport.others.nodes.includes(node)) return;
        await Bun.sleep(RETRY_MS);
      }
    }
    log.error({ node, socket }, 'failed to close connection after token revocation');
  }
}

const watchKey = (node: string, socket: string, watch: string): string => `${node} ${socket} ${watch}`;

/** Identifies tokens without revealing them. */
const nameOf = (token: string): string => createHash('sha256').update(token).digest('hex');
