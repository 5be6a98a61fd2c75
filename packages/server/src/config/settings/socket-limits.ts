/** Limits of WebSockets and event streams. */
import { type LimitSetting, limit } from './limit.ts';

export const SOCKET_LIMITS = {
  maxFrame: limit({
    env: 'PARLANCE_MAX_FRAME',
    flag: '--max-frame',
    argument: 'BYTES',
    fallback: 1_048_576,
    range: [1_024, 67_108_864],
    description: 'maximum size of a WebSocket frame, all fragments together',
    reached:
      "the dialect's error; 25 % more (at least 64 KiB), in any number of fragments, closes the socket unread",
  }),
  maxFirstFrame: limit({
    env: 'PARLANCE_MAX_FIRST_FRAME',
    flag: '--max-first-frame',
    argument: 'BYTES',
    fallback: 65_536,
    range: [1_024, 67_108_864],
    description:
      'the same before authentication, if a token is required; in open mode, before a Pusher socket has subscribed or signed in',
    reached: "the dialect's error",
  }),
  framesPerMinute: limit({
    env: 'PARLANCE_FRAMES_PER_MINUTE',
    flag: '--frames-per-minute',
    argument: 'COUNT',
    fallback: 12_000,
    range: [1, 10_000_000],
    description: "frames per minute of one socket, in bursts of up to one minute's worth",
    reached:
      "the frame is not read and answered with the dialect's error and a retry time; a socket that does not slow down is closed with 1008",
  }),
  heldCharacters: limit({
    env: 'PARLANCE_HELD_CHARACTERS',
    flag: '--held-characters',
    argument: 'COUNT',
    fallback: 262_144,
    range: [1_024, 1_073_741_824],
    description: 'send buffer of a slow reader',
    reached: 'a socket is closed with 1013; an event stream continues from the log',
  }),
  sockets: limit({
    env: 'PARLANCE_SOCKETS',
    flag: '--sockets',
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 10_000_000],
    description: 'total number of sockets',
    reached: '503 with Retry-After before the upgrade',
  }),
  socketsPerPrincipal: limit({
    env: 'PARLANCE_SOCKETS_PER_PRINCIPAL',
    flag: '--sockets-per-principal',
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'sockets per principal',
    reached: '429 with Retry-After before the upgrade; 1013 if the token came in a frame',
  }),
  socketsPerAddress: limit({
    env: 'PARLANCE_SOCKETS_PER_ADDRESS',
    flag: '--sockets-per-address',
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'sockets per address',
    reached: '429 with Retry-After before the upgrade',
  }),
  unknownSockets: limit({
    env: 'PARLANCE_UNKNOWN_SOCKETS',
    flag: '--unknown-sockets',
    argument: 'COUNT',
    fallback: 1_024,
    range: [1, 10_000_000],
    description: 'sockets before authentication, if a token is required',
    reached: '503 with Retry-After before the upgrade, unless an unread one can be closed instead (1006)',
  }),
  unfinishedBytes: limit({
    env: 'PARLANCE_UNFINISHED_BYTES',
    flag: '--unfinished-bytes',
    argument: 'BYTES',
    fallback: 67_108_864,
    range: [1_024, 1_099_511_627_776],
    description: 'bytes of unfinished WebSocket messages of all such sockets',
    reached:
      'others are not read until there is room: the oldest are closed with 1006 after a fifth of `identifyWithin`; a socket that waits longer than `identifyWithin` is closed with 1013',
  }),
  identifyWithin: limit({
    env: 'PARLANCE_IDENTIFY_WITHIN',
    flag: '--identify-within',
    argument: 'MS',
    fallback: 10_000,
    range: [1, 3_600_000],
    description: 'how long such a socket may take to authenticate, and the body of a login to arrive',
    reached: 'the socket is closed with 1008; a login is answered with 408',
  }),
} as const satisfies Record<string, LimitSetting>;
