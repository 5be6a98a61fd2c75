/** In: the frames of one socket. */
import type { Connection, Socket } from '../../http/connection.ts';
import { retryText } from '../kit/retry.ts';
import { isClientEvent, rateOf, refusalOf } from './client-events.ts';
import type { Clock } from './clock.ts';
import type { Client } from './connections.ts';
import type { Limits } from './limits.ts';
import type { Member } from './member.ts';
import { kindOf } from './names.ts';
import {
  CODES,
  encoded,
  errorFrame,
  isKnown,
  Message,
  type Refusal,
  SignIn,
  Subscribe,
  subscriptionError,
  Unsubscribe,
  UserData,
} from './protocol.ts';
import type { PusherServer } from './server.ts';
import { isUserAuth } from './signature.ts';
import { admit } from './subscribing.ts';

export function openPusher(socket: Socket, handshake: Handshake, server: PusherServer): Connection {
  const { channels, connected, limits, clock } = server;
  /** null before the socket is accepted, and after it is closed */
  let here: { readonly client: Client; readonly pulse: Pulse } | null = null;
  const subscribed = new Set<string>();
  let user: Member | null = null;
  const mayTrigger = rateOf(limits.clientEventsPerSecond, clock);

  const sendError = (code: number, message: string) => socket.sendFrame(errorFrame(code, message));

  function dismiss(code: number, message: string): void {
    sendError(code, message);
    gone();
    socket.close(code, message);
  }

  function gone(): void {
    if (!here) return;
    const { client, pulse } = here;
    here = null;
    pulse.stop();
    connected.remove(client.id);
    for (const channel of subscribed) channels.unsubscribe(channel, client.id);
    subscribed.clear();
  }

  function subscribe(id: string, request: Subscribe) {
    const { channel } = request;
    const refuse = (refusal: Refusal) =>
      socket.sendFrame(subscriptionError(channel.slice(0, limits.channelNameLength), refusal));
    const full = (error: string) => refuse({ type: 'LimitReached', error, status: 413 });
    if (subscribed.has(channel))
      return sendError(CODES.malformed, `Existing subscription to channel ${channel}`);
    if (subscribed.size >= limits.channelsPerSocket)
      return full(`A connection may have ${limits.channelsPerSocket} channels`);
    const admission = admit(request, { socketId: id, user }, server);
    if ('error' in admission) return refuse(admission);
    const join = () => {
      // The client may have left while the members on other nodes were read.
      if (here?.client.id !== id || !subscribed.has(channel)) return channels.release(channel);
      const subscriber = { id, send: (text: string) => socket.send(text) };
      if (channels.subscribe(channel, subscriber, admission.member) !== 'full') return;
      subscribed.delete(channel);
      channels.release(channel);
      full(`A presence channel may have ${limits.membersPerChannel} members`);
    };
    subscribed.add(channel);
    const prepared = channels.prepare(channel);
    if (prepared) void prepared.then(join);
    else join();
  }

  /** Whether the client has sent a signature of the application. */
  const signed = () => user !== null || [...subscribed].some((channel) => kindOf(channel) !== 'public');

  function unsubscribe(id: string, channel: string): void {
    if (subscribed.delete(channel)) channels.unsubscribe(channel, id);
  }

  function signIn(id: string, { auth, user_data }: SignIn) {
    if (!isUserAuth(server.application, { socketId: id, userData: user_data }, auth))
      return dismiss(CODES.unauthorised, 'The connection is unauthorized.');
    const parsed = UserData.safeParse(user_data);
    if (!parsed.success || parsed.data.id.length > limits.userIdLength)
      return sendError(CODES.malformed, 'user_data must be JSON with an id');
    if (user && user.user_id !== parsed.data.id)
      return sendError(CODES.malformed, 'Another user has signed in on this connection');
    user = { user_id: parsed.data.id, user_info: parsed.data.user_info };
    connected.signIn(id, user.user_id);
    socket.send(encoded('pusher:signin_success', undefined, { user_data }));
  }

  function clientEvent(id: string, message: Message) {
    const refusal = refusalOf(message, subscribed, limits);
    if (refusal !== null) return sendError(CODES.clientEventRefused, `Client event rejected: ${refusal}`);
    if (!mayTrigger())
      return sendError(
        CODES.clientEventRefused,
        `Client event rejected: more than ${limits.clientEventsPerSecond} in a second`,
      );
    channels.relay(message.channel ?? '', { event: message.event, data: message.data }, id);
  }

  function obey(id: string, message: Message) {
    const malformed = () => sendError(CODES.malformed, `The data of ${message.event} do not fit`);
    if (isClientEvent(message.event)) return clientEvent(id, message);
    if (!isKnown(message.event))
      return sendError(CODES.malformed, `Unknown event ${message.event.slice(0, limits.eventNameLength)}`);
    switch (message.event) {
      case 'pusher:ping':
        return socket.send(PONG);
      case 'pusher:pong':
        return;
      case 'pusher:subscribe': {
        const request = Subscribe.safeParse(message.data);
        return request.success ? subscribe(id, request.data) : malformed();
      }
      case 'pusher:unsubscribe': {
        const request = Unsubscribe.safeParse(message.data);
        return request.success ? unsubscribe(id, request.data.channel) : malformed();
      }
      case 'pusher:signin': {
        const request = SignIn.safeParse(message.data);
        return request.success ? signIn(id, request.data) : malformed();
      }
    }
  }

  return {
    opened() {
      const problem = problemWith(handshake, server);
      if (problem) return dismiss(...problem);
      const client = connected.add(dismiss);
      if (!client) return dismiss(CODES.overCapacity, 'Over capacity');
      const silent = () => dismiss(CODES.noAnswer, 'Pong reply not received in time');
      here = { client, pulse: pulse(clock, limits, { ping: () => socket.send(PING), lost: silent }) };
      const greeting = { socket_id: client.id, activity_timeout: limits.silenceMs / 1000 };
      socket.send(encoded('pusher:connection_established', undefined, greeting));
    },
    receive(frame) {
      if (!here) return;
      here.pulse.activity();
      const message = Message.safeParse(frame);
      if (message.success) obey(here.client.id, message.data);
      else sendError(CODES.malformed, 'A message must be a JSON object with an event');
    },
    onInvalidFrame(reason) {
      if (here) sendError(CODES.malformed, reason);
    },
    onRateLimited: (fault) => sendError(CODES.clientEventRefused, retryText(fault)),
    // Anyone can sign with the default secret.
    isAuthorized: () =>
      here !== null && (connected.isVouchedFor(here.client.id) || (!server.application.known && signed())),
    established: () => subscribed.size > 0 || user !== null,
    closed: gone,
    draining: () => sendError(CODES.goingAway, 'The server is shutting down.'),
  };
}

const PING = encoded('pusher:ping', undefined, {});
const PONG = encoded('pusher:pong', undefined, {});

// Checks the address with which a client opens a socket.

/** From `/app/{key}?protocol=7&client=js&version=…`. */
type Handshake = { readonly key: string; readonly protocol: string | null };

/** For a server, protocols 5 and 6 are the same as 7. */
const PROTOCOLS = new Set(['5', '6', '7']);

/** The close code and reason if the client is refused, or null. */
function problemWith({ key, protocol }: Handshake, { application }: PusherServer): [number, string] | null {
  if (key !== application.key) return [CODES.unknownKey, 'Application does not exist'];
  if (protocol === null) return [CODES.noVersion, 'No protocol version supplied'];
  if (!/^\d{1,9}$/.test(protocol)) return [CODES.badVersion, 'Invalid version string format'];
  return PROTOCOLS.has(protocol) ? null : [CODES.unsupportedVersion, 'Unsupported protocol version'];
}

// Detects dead clients: a silent client is sent a ping, and closed if it stays silent.

type Pulse = {
  /** The client has sent a frame. */
  activity(): void;
  stop(): void;
};

/** Uses one timer per socket, which frames do not reset: it checks the time of the last frame. */
function pulse(
  clock: Clock,
  { silenceMs, answerMs }: Pick<Limits, 'silenceMs' | 'answerMs'>,
  { ping, lost }: { readonly ping: () => void; readonly lost: () => void },
): Pulse {
  let lastActivity = clock.now();
  let isPinged = false;
  let cancel = clock.after(silenceMs, check);

  function check() {
    if (isPinged) return lost();
    const rest = lastActivity + silenceMs - clock.now();
    if (rest <= 0) {
      isPinged = true;
      ping();
    }
    cancel = clock.after(rest <= 0 ? answerMs : rest, check);
  }

  return {
    activity() {
      lastActivity = clock.now();
      if (!isPinged) return;
      isPinged = false;
      cancel();
      cancel = clock.after(silenceMs, check);
    },
    stop: () => cancel(),
  };
}
