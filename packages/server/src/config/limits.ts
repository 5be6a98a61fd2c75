/** Every configurable limit: part of the table of settings, and the source of the guide to limits. */
import type { Setting } from './settings.ts';
import { wholeNumber } from './values.ts';

/** A setting with the effect of reaching it. */
export type LimitSetting = Setting & { readonly reached: string };

type Limit = {
  readonly env: string;
  readonly flag: string;
  readonly argument: string;
  readonly fallback: number;
  readonly range: readonly [least: number, most: number];
  readonly description: string;
  readonly reached: string;
};

const limit = ({ env, range: [least, most], ...rest }: Limit) => ({
  ...rest,
  env: [env],
  schema: () => wholeNumber(least, most),
});

const ANSWER_STOPPED =
  'the connection to the model is closed and the turn fails with `answer_too_long`; what was shown is kept, no call is made';

export const LIMITS = {
  maxFrame: limit({
    env: 'PARLANCE_MAX_FRAME',
    flag: '--max-frame',
    argument: 'BYTES',
    fallback: 1_048_576,
    range: [1_024, 67_108_864],
    description: 'the largest WebSocket frame that is taken, fragments together',
    reached:
      "the dialect's error; a quarter more (at least 64 KiB), in however many fragments, closes the socket unread",
  }),
  maxFirstFrame: limit({
    env: 'PARLANCE_MAX_FIRST_FRAME',
    flag: '--max-first-frame',
    argument: 'BYTES',
    fallback: 65_536,
    range: [1_024, 67_108_864],
    description:
      'the same, until the socket has authenticated where a token is required; in open mode, until a Pusher socket has subscribed or signed in',
    reached: "the dialect's error",
  }),
  framesPerMinute: limit({
    env: 'PARLANCE_FRAMES_PER_MINUTE',
    flag: '--frames-per-minute',
    argument: 'COUNT',
    fallback: 12_000,
    range: [1, 10_000_000],
    description: 'how many frames one socket may send; a whole minute of them may come at once',
    reached:
      "the frame is not read and answered with the dialect's error and a retry time; a socket that does not slow down is closed with 1008",
  }),
  heldCharacters: limit({
    env: 'PARLANCE_HELD_CHARACTERS',
    flag: '--held-characters',
    argument: 'COUNT',
    fallback: 262_144,
    range: [1_024, 1_073_741_824],
    description: 'how much is held for a reader that is behind what it is told',
    reached: 'a socket is closed with 1013; a stream of events is told again from the log',
  }),
  sockets: limit({
    env: 'PARLANCE_SOCKETS',
    flag: '--sockets',
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 10_000_000],
    description: 'how many sockets there may be in all',
    reached: '503 with Retry-After before the upgrade',
  }),
  socketsPerPrincipal: limit({
    env: 'PARLANCE_SOCKETS_PER_PRINCIPAL',
    flag: '--sockets-per-principal',
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'how many sockets one principal may have',
    reached: '429 with Retry-After before the upgrade; 1013 where the token came in a frame',
  }),
  socketsPerAddress: limit({
    env: 'PARLANCE_SOCKETS_PER_ADDRESS',
    flag: '--sockets-per-address',
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'how many sockets may come from one address',
    reached: '429 with Retry-After before the upgrade',
  }),
  unknownSockets: limit({
    env: 'PARLANCE_UNKNOWN_SOCKETS',
    flag: '--unknown-sockets',
    argument: 'COUNT',
    fallback: 1_024,
    range: [1, 10_000_000],
    description: 'how many sockets may have yet to show a token, where one is required',
    reached:
      '503 with Retry-After before the upgrade, unless one that is not read yet can be closed instead (1006)',
  }),
  unfinishedBytes: limit({
    env: 'PARLANCE_UNFINISHED_BYTES',
    flag: '--unfinished-bytes',
    argument: 'BYTES',
    fallback: 67_108_864,
    range: [1_024, 1_099_511_627_776],
    description: 'how many bytes of unfinished WebSocket messages are held of all such sockets',
    reached:
      'further ones are not read until there is room: the oldest are closed with 1006 after a fifth of `identifyWithin`; who waits longer than `identifyWithin` is closed with 1013',
  }),
  identifyWithin: limit({
    env: 'PARLANCE_IDENTIFY_WITHIN',
    flag: '--identify-within',
    argument: 'MS',
    fallback: 10_000,
    range: [1, 3_600_000],
    description: 'how long such a socket may take to show it, and how long the body of a login may take',
    reached: 'the socket is closed with 1008; a login is answered with 408',
  }),
  maxBody: limit({
    env: 'PARLANCE_MAX_BODY',
    flag: '--max-body',
    argument: 'BYTES',
    fallback: 11_534_336,
    range: [1_024, 1_073_741_824],
    description: 'the largest body of an HTTP request',
    reached: '413',
  }),
  maxLoginBody: limit({
    env: 'PARLANCE_MAX_LOGIN_BODY',
    flag: '--max-login-body',
    argument: 'BYTES',
    fallback: 16_384,
    range: [1_024, 1_048_576],
    description: 'the largest body of a request that needs no token, such as a login',
    reached: "413 in the dialect's own shape, before the body is read",
  }),
  bodyWithin: limit({
    env: 'PARLANCE_BODY_WITHIN',
    flag: '--body-within',
    argument: 'MS',
    fallback: 300_000,
    range: [1, 3_600_000],
    description: 'how long the body of a request may take to arrive',
    reached: "408 in the dialect's own shape, and the connection is closed",
  }),
  bodyRate: limit({
    env: 'PARLANCE_BODY_RATE',
    flag: '--body-rate',
    argument: 'BYTES',
    fallback: 1_024,
    range: [0, 1_073_741_824],
    description: 'how many bytes of a body must arrive per second, averaged over 30 seconds; 0: any number',
    reached: "408 in the dialect's own shape, and the connection is closed",
  }),
  bodyBytes: limit({
    env: 'PARLANCE_BODY_BYTES',
    flag: '--body-bytes',
    argument: 'BYTES',
    fallback: 268_435_456,
    range: [1_024, 1_099_511_627_776],
    description: 'how many bytes of unfinished bodies are held at once, of all callers who are known',
    reached: "503 with Retry-After in the dialect's own shape",
  }),
  anonymousBytes: limit({
    env: 'PARLANCE_ANONYMOUS_BYTES',
    flag: '--anonymous-bytes',
    argument: 'BYTES',
    fallback: 16_777_216,
    range: [1_024, 1_099_511_627_776],
    description:
      'how many bytes of bodies and frames are held at once, of all peers who have yet to show a token',
    reached: "503 with Retry-After, or the dialect's error with a retry time",
  }),
  requestsPerMinute: limit({
    env: 'PARLANCE_REQUESTS_PER_MINUTE',
    flag: '--requests-per-minute',
    argument: 'COUNT',
    fallback: 6_000,
    range: [1, 1_000_000],
    description: 'how often one caller of the copilot endpoints may ask',
    reached: '429 RATE_LIMIT with Retry-After and retryAfter',
  }),
  apiRequestsPerMinute: limit({
    env: 'PARLANCE_API_REQUESTS_PER_MINUTE',
    flag: '--api-requests-per-minute',
    argument: 'COUNT',
    fallback: 60_000,
    range: [1, 10_000_000],
    description: 'how often one caller of the other HTTP endpoints may ask; a whole minute may come at once',
    reached: "429 with Retry-After in the dialect's own shape",
  }),
  sessionsPerPrincipal: limit({
    env: 'PARLANCE_SESSIONS_PER_PRINCIPAL',
    flag: '--sessions-per-principal',
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 1_000_000_000],
    description: 'how many sessions one principal may have that are not archived',
    reached: 'no further session is begun; the fault `limited`: 429',
  }),
  inputsQueued: limit({
    env: 'PARLANCE_INPUTS_QUEUED',
    flag: '--inputs-queued',
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'how many inputs may wait in one session for the turn that is running',
    reached: 'no further input is taken there; the fault `limited` with a retry time: 429',
  }),
  turnsAtOnce: limit({
    env: 'PARLANCE_TURNS_AT_ONCE',
    flag: '--turns-at-once',
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'how many turns run at the same time; those that wait for a person do not count',
    reached: 'further turns wait, in order of arrival',
  }),
  turnsWaiting: limit({
    env: 'PARLANCE_TURNS_WAITING',
    flag: '--turns-waiting',
    argument: 'COUNT',
    fallback: 1_000,
    range: [0, 1_000_000],
    description: 'how many turns may wait to run',
    reached:
      'new inputs are refused at once; the fault `overloaded` with a retry time: 503. Running turns go on; answers and cancels are taken',
  }),
  storedBytes: limit({
    env: 'PARLANCE_STORED_BYTES',
    flag: '--stored-bytes',
    argument: 'BYTES',
    fallback: 53_687_091_200,
    range: [1, 1_000_000_000_000_000],
    description: 'how much all sessions together may take on the disk',
    reached:
      'new inputs and sessions are refused; the fault `overloaded` with a retry time: 503. Running turns end, reading and archiving go on',
  }),
  answerCharacters: limit({
    env: 'PARLANCE_ANSWER_CHARACTERS',
    flag: '--answer-characters',
    argument: 'CHARACTERS',
    fallback: 4_000_000,
    range: [1_000, 100_000_000],
    description: 'how many characters of text and reasoning one answer of a model may have',
    reached: ANSWER_STOPPED,
  }),
  argumentCharacters: limit({
    env: 'PARLANCE_ARGUMENT_CHARACTERS',
    flag: '--argument-characters',
    argument: 'CHARACTERS',
    fallback: 8_000_000,
    range: [1_000, 100_000_000],
    description: 'how many characters the arguments of all its calls may have',
    reached: ANSWER_STOPPED,
  }),
  answerCalls: limit({
    env: 'PARLANCE_ANSWER_CALLS',
    flag: '--answer-calls',
    argument: 'COUNT',
    fallback: 200,
    range: [1, 10_000],
    description: 'how many calls one answer of a model may make',
    reached: ANSWER_STOPPED,
  }),
  maxDom: limit({
    env: 'PARLANCE_MAX_DOM',
    flag: '--max-dom',
    argument: 'CHARACTERS',
    fallback: 1_000_000,
    range: [1_000, 100_000_000],
    description: 'the largest page that a copilot client may show, in each of its forms',
    reached: '400 VALIDATION_ERROR that names the field',
  }),
} as const satisfies Record<string, LimitSetting>;
