/** In: the frames of one socket. */
import type { Connection, Socket } from '../../http/connection.ts';
import { retryText } from '../kit/faults.ts';
import {
  ChannelData,
  ClientFrame,
  CODES,
  Envelope,
  type ErrorFrame,
  encoded,
  encodedData,
  isChannelName,
  isOurs,
  KNOWN_EVENTS,
  kindOf,
  type Limits,
  type Member,
  type Subscription,
  type SubscriptionError,
  UserData,
  type UserSignIn,
  userChannel,
} from './contract.ts';
import type { Clock, PusherServer } from './server.ts';
import { isSubscriptionAuth, isUserAuth } from './signature.ts';

export function openPusher(socket: Socket, handshake: Handshake, server: PusherServer): Connection {
  const { channels, connected, limits, clock } = server;
  /** null before the socket is accepted, and after it is closed */
  let here: { readonly id: string; readonly pulse: Pulse } | null = null;
  const subscribed = new Set<string>();
  let user: Member | null = null;
  const mayTrigger = rateOf(limits.clientEventsPerSecond, clock);

  const sendError = (code: number, message: string) =>
    socket.sendFrame({ event: 'pusher:error', data: { code, message } } satisfies ErrorFrame);

  function dismiss(code: number, message: string): void {
    sendError(code, message);
    gone();
    socket.close(code, message);
  }

  function gone(): void {
    if (!here) return;
    const { id, pulse } = here;
    here = null;
    pulse.stop();
    connected.remove(id);
    for (const channel of subscribed) channels.unsubscribe(channel, id);
    subscribed.clear();
  }

  function subscribe(id: string, request: Subscription) {
    const { channel } = request;
    const refuse = (data: Refusal) =>
      socket.sendFrame({
        event: 'pusher:subscription_error',
        channel: channel.slice(0, limits.channelNameLength),
        data,
      } satisfies SubscriptionError);
    const full = (error: string) => refuse({ type: 'LimitReached', error, status: 413 });
    if (subscribed.has(channel))
      return sendError(CODES.malformed, `Existing subscription to channel ${channel}`);
    if (subscribed.size >= limits.channelsPerSocket)
      return full(`A connection may have ${limits.channelsPerSocket} channels`);
    const admission = admit(request, { socketId: id, user }, server);
    if ('error' in admission) return refuse(admission);
    const join = () => {
      // The client may have left while the members on other nodes were read.
      if (here?.id !== id || !subscribed.has(channel)) return channels.release(channel);
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

  function signIn(id: string, { auth, user_data }: UserSignIn) {
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

  function clientEvent(id: string, { event, channel, data }: Envelope) {
    const reject = (reason: string) =>
      sendError(CODES.clientEventRefused, `Client event rejected: ${reason}`);
    if (!channel || !subscribed.has(channel)) return reject('the sender is not subscribed to the channel');
    const kind = kindOf(channel);
    if (kind !== 'private' && kind !== 'presence')
      return reject('only private and presence channels that are not encrypted take client events');
    if (event.length > limits.eventNameLength)
      return reject(`its name is longer than ${limits.eventNameLength} characters`);
    if (Buffer.byteLength(encodedData(data)) > limits.eventBytes)
      return reject(`its data is larger than ${limits.eventBytes} bytes`);
    if (!mayTrigger()) return reject(`more than ${limits.clientEventsPerSecond} in a second`);
    channels.relay(channel, { event, data }, id);
  }

  function obey(id: string, frame: ClientFrame) {
    switch (frame.event) {
      case 'pusher:ping':
        return socket.send(PONG);
      case 'pusher:pong':
        return;
      case 'pusher:subscribe':
        return subscribe(id, frame.data);
      case 'pusher:unsubscribe':
        return unsubscribe(id, frame.data.channel);
      case 'pusher:signin':
        return signIn(id, frame.data);
    }
  }

  return {
    opened() {
      const problem = problemWith(handshake, server);
      if (problem) return dismiss(...problem);
      const id = connected.add(dismiss);
      if (id === null) return dismiss(CODES.overCapacity, 'Over capacity');
      const silent = () => dismiss(CODES.noAnswer, 'Pong reply not received in time');
      here = { id, pulse: pulse(clock, limits, { ping: () => socket.send(PING), lost: silent }) };
      const greeting = { socket_id: id, activity_timeout: limits.silenceMs / 1000 };
      socket.send(encoded('pusher:connection_established', undefined, greeting));
    },
    receive(frame) {
      if (!here) return;
      here.pulse.activity();
      const envelope = Envelope.safeParse(frame);
      if (!envelope.success)
        return sendError(CODES.malformed, 'A message must be a JSON object with an event');
      const { event } = envelope.data;
      if (event.startsWith('client-')) return clientEvent(here.id, envelope.data);
      if (!KNOWN_EVENTS.has(event))
        return sendError(CODES.malformed, `Unknown event ${event.slice(0, limits.eventNameLength)}`);
      const message = ClientFrame.safeParse(frame);
      if (!message.success) return sendError(CODES.malformed, `The data of ${event} do not fit`);
      obey(here.id, message.data);
    },
    onInvalidFrame(reason) {
      if (here) sendError(CODES.malformed, reason);
    },
    onRateLimited: (fault) => sendError(CODES.clientEventRefused, retryText(fault)),
    // Anyone can sign with the default secret.
    isAuthorized: () =>
      here !== null && (connected.isVouchedFor(here.id) || (!server.application.known && signed())),
    established: () => subscribed.size > 0 || user !== null,
    closed: gone,
    draining: () => sendError(CODES.goingAway, 'The server is shutting down.'),
  };
}

const PING = encoded('pusher:ping', undefined, {});
const PONG = encoded('pusher:pong', undefined, {});

// Decides whether a socket may subscribe to a channel, and as which member.

type Refusal = SubscriptionError['data'];
type Admission = { readonly member: Member | null } | Refusal;

const refused = (type: string, error: string, status: number): Refusal => ({ type, error, status });
const BAD_AUTH = refused('AuthError', 'The connection is unauthorized.', 401);
const NOT_PERMITTED = refused('AuthError', 'The channel was not permitted to this connection.', 403);

function admit(
  request: Subscription,
  { socketId, user }: { readonly socketId: string; readonly user: Member | null },
  { application, connected, limits }: PusherServer,
): Admission {
  const { channel, auth, channel_data } = request;
  if (!isChannelName(channel, limits)) return refused('InvalidChannel', 'Invalid channel name', 400);
  const kind = kindOf(channel);
  if (kind === 'public') return { member: null };
  if (kind === 'user') return user && channel === userChannel(user.user_id) ? { member: null } : BAD_AUTH;
  const data = kind === 'presence' ? channel_data : null;
  if (!auth || !isSubscriptionAuth(application, { socketId, channel, channelData: data }, auth))
    return BAD_AUTH;
  if (application.known && isOurs(channel) && !connected.redeem(socketId, channel)) return NOT_PERMITTED;
  if (kind !== 'presence') return { member: null };
  return data == null && user ? { member: user } : memberOf(data, limits);
}

function memberOf(data: string | null | undefined, limits: PusherServer['limits']): Admission {
  const parsed = ChannelData.safeParse(data);
  if (!parsed.success) return refused('InvalidMember', 'channel_data must be JSON with a user_id', 400);
  const { user_id, user_info } = parsed.data;
  if (user_id.length > limits.userIdLength)
    return refused('LimitReached', `user_id is longer than ${limits.userIdLength} characters`, 413);
  if (Buffer.byteLength(JSON.stringify(user_info ?? null)) > limits.userInfoBytes)
    return refused('LimitReached', `user_info is larger than ${limits.userInfoBytes} bytes`, 413);
  return { member: { user_id, user_info } };
}

/** Allows at most `perSecond` calls within any second. */
function rateOf(perSecond: number, clock: Clock): () => boolean {
  const taken: number[] = [];
  return () => {
    const now = clock.now();
    const oldest = taken.length < perSecond ? undefined : taken[0];
    if (oldest !== undefined && now - oldest < 1_000) return false;
    if (oldest !== undefined) taken.shift();
    taken.push(now);
    return true;
  };
}

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
