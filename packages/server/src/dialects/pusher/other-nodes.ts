/** Channels on several nodes: events, counts, permits and terminations reach sockets on any node. */
import { Fault } from '@parlance/protocol';
import type { Transport } from '../../cluster/transport.ts';
import type { Log } from '../../core/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import type { Channels } from './channels.ts';
import type { Connections } from './connections.ts';
import {
  ChannelStates,
  Close,
  Closed,
  KINDS,
  LastEvent,
  LastQuery,
  Permit,
  Permitted,
  RemoteEvent,
  StateQuery,
  Terminate,
} from './node-messages.ts';
import { CODES } from './protocol.ts';
import { RemoteTokens } from './remote-tokens.ts';

export type OtherNodesParts = {
  readonly transport: Transport;
  readonly channels: Channels;
  readonly connected: Connections;
  readonly authenticator: Authenticator;
  readonly log: Log;
};

const ANSWER_MS = 300;

export class OtherNodes {
  readonly #tokens: RemoteTokens;
  #known: readonly string[];

  constructor(private readonly parts: OtherNodesParts) {
    const { transport, channels, connected } = parts;
    this.#tokens = new RemoteTokens(parts);
    this.#known = transport.others.nodes;
    transport.others.onChange(() => this.#nodesChanged());
    transport.on(KINDS.event, (body) => channels.deliver(RemoteEvent.parse(body)));
    transport.on(KINDS.terminate, (body) => terminate(connected, Terminate.parse(body).user));
    transport.on(KINDS.closed, (body, from) => this.#tokens.socketClosed(from, Closed.parse(body)));
    transport.respond(KINDS.state, (body) => channels.states(StateQuery.parse(body)));
    transport.respond(KINDS.last, (body) => channels.last(LastQuery.parse(body).channel));
    transport.onUp(() => channels.missedSome());
    transport.onLost(() => channels.missedSome());
    transport.respond(KINDS.permit, (body, from) => this.#permitHere(Permit.parse(body), from));
    transport.respond(KINDS.close, (body) => {
      const { socket, reason } = Close.parse(body);
      connected.close(socket, CODES.goingAway, reason);
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

  /** The state on all nodes together. A node that does not answer in time is left out. */
  async states(query: StateQuery): Promise<ChannelStates> {
    const answers = await this.#ask(KINDS.state, query);
    const states = answers.map(({ answer }) => ChannelStates.safeParse(answer).data ?? {});
    return merged([this.parts.channels.states(query), ...states]);
  }

  /** The last event of a cache channel on another node; null if there is none. */
  async last(channel: string): Promise<LastEvent | null> {
    const answers = await this.#ask(KINDS.last, { channel });
    const events = answers.flatMap(({ answer }) => LastEvent.safeParse(answer).data ?? []);
    return events.sort((one, other) => one.ageMs - other.ageMs)[0] ?? null;
  }

  /**
   * Permits a channel to a socket of another node, or makes the socket depend on a token. Does nothing if no
   * node has the socket. The token is not sent: this node watches it and notifies the socket's node when it is
   * revoked.
   */
  async permit(socket: string, channel: string | null, token: string | null): Promise<void> {
    const watch = token === null ? null : RemoteTokens.nameOf(token);
    const answers = await this.#ask(KINDS.permit, { socket, channel, watch });
    const host = answers.find(({ answer }) => Permitted.safeParse(answer).data === 'permitted')?.node;
    if (answers.some(({ answer }) => answer === 'refused'))
      throw new Fault('forbidden', 'The socket depends on too many tokens.');
    if (host !== undefined && token !== null) this.#tokens.watch(host, socket, token);
  }

  #permitHere({ socket, channel, watch }: Permit, from: string): string {
    const { connected, transport } = this.parts;
    if (!connected.has(socket)) return 'elsewhere';
    const ended = () => transport.send([from], { kind: KINDS.closed, body: { socket, watch: watch ?? '' } });
    if (watch !== null && !connected.dependOn(socket, `${from} ${watch}`, () => ended)) return 'refused';
    if (channel !== null) connected.permit(socket, channel);
    return 'permitted';
  }

  /** Tokens of sockets that a failed node authorised are no longer watched, so these sockets must reconnect. */
  #nodesChanged(): void {
    const { transport, connected } = this.parts;
    const { nodes } = transport.others;
    for (const node of this.#known.filter((known) => !nodes.includes(known))) {
      connected.closeDependents(`${node} `, CODES.goingAway, 'Please connect again.');
      this.#tokens.nodeGone(node);
    }
    this.#known = nodes;
  }

  async #ask(
    kind: string,
    body: StateQuery | LastQuery | Permit,
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

export function terminate(connected: Connections, user: string): void {
  connected.terminate(user, CODES.unauthorised, 'You got disconnected by the app.');
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
