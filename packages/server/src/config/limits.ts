/** All configurable limits: part of the settings table, and the source of the limits guide. */
import { totalmem } from 'node:os';
import type { Setting } from './setting.ts';
import { wholeNumber } from './values.ts';

type Limit = {
  readonly argument: 'BYTES' | 'CHARACTERS' | 'COUNT' | 'MS';
  readonly fallback: number;
  readonly fallbackText?: string;
  readonly range: readonly [min: number, max: number];
  readonly description: string;
  /** the effect of reaching it */
  readonly reached: string;
};

export type LimitSetting = Omit<Setting, 'schema'> &
  Omit<Limit, 'range'> & { readonly schema: () => ReturnType<typeof wholeNumber> };

const ANSWER_STOPPED =
  'the connection to the model is closed and the turn fails with `answer_too_long`; text shown so far is stored, no tool runs';
const COMMAND_STOPPED = 'the command and all its processes are killed, and its result says why';

const TABLE = {
  // WebSockets and event streams.

  maxFrame: {
    argument: 'BYTES',
    fallback: 1_048_576,
    range: [1_024, 67_108_864],
    description: 'maximum size of a WebSocket frame, all fragments together',
    reached:
      "the dialect's error; 25 % more (at least 64 KiB), in any number of fragments, closes the socket unread",
  },
  maxFirstFrame: {
    argument: 'BYTES',
    fallback: 65_536,
    range: [1_024, 67_108_864],
    description:
      'the same before authentication, if a token is required; in open mode, before a Pusher socket has subscribed or signed in',
    reached: "the dialect's error",
  },
  framesPerMinute: {
    argument: 'COUNT',
    fallback: 12_000,
    range: [1, 10_000_000],
    description: "frames per minute of one socket, in bursts of up to one minute's worth",
    reached:
      "the frame is not read and answered with the dialect's error and a retry time; a socket that does not slow down is closed with 1008",
  },
  heldCharacters: {
    argument: 'COUNT',
    fallback: 262_144,
    range: [1_024, 1_073_741_824],
    description: 'send buffer of a slow reader',
    reached: 'a socket is closed with 1013; an event stream continues from the log',
  },
  sockets: {
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 10_000_000],
    description: 'total number of sockets',
    reached: '503 with Retry-After before the upgrade',
  },
  socketsPerPrincipal: {
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'sockets per principal',
    reached: '429 with Retry-After before the upgrade; 1013 if the token came in a frame',
  },
  socketsPerAddress: {
    argument: 'COUNT',
    fallback: 10_000,
    range: [1, 10_000_000],
    description: 'sockets per address',
    reached: '429 with Retry-After before the upgrade',
  },
  unknownSockets: {
    argument: 'COUNT',
    fallback: 1_024,
    range: [1, 10_000_000],
    description: 'sockets before authentication, if a token is required',
    reached: '503 with Retry-After before the upgrade, unless an unread one can be closed instead (1006)',
  },
  unfinishedBytes: {
    argument: 'BYTES',
    fallback: 67_108_864,
    range: [1_024, 1_099_511_627_776],
    description: 'bytes of unfinished WebSocket messages of all such sockets',
    reached:
      'others are not read until there is room: the oldest are closed with 1006 after a fifth of `identifyWithin`; a socket that waits longer than `identifyWithin` is closed with 1013',
  },
  identifyWithin: {
    argument: 'MS',
    fallback: 10_000,
    range: [1, 3_600_000],
    description: 'how long such a socket may take to authenticate, and the body of a login to arrive',
    reached: 'the socket is closed with 1008; a login is answered with 408',
  },

  // HTTP requests.

  maxBody: {
    argument: 'BYTES',
    fallback: 11_534_336,
    range: [1_024, 1_073_741_824],
    description: 'maximum size of the body of an HTTP request',
    reached: "413 in the dialect's own shape",
  },
  maxLoginBody: {
    argument: 'BYTES',
    fallback: 16_384,
    range: [1_024, 1_048_576],
    description: 'maximum size of the body of a request without a token, such as a login',
    reached: "413 in the dialect's own shape, before the body is read",
  },
  bodyWithin: {
    argument: 'MS',
    fallback: 300_000,
    range: [1, 3_600_000],
    description: 'how long the body of a request may take to arrive',
    reached: "408 in the dialect's own shape, and the connection is closed",
  },
  bodyRate: {
    argument: 'BYTES',
    fallback: 1_024,
    range: [0, 1_073_741_824],
    description: 'minimum bytes per second of a body, averaged over 30 seconds; 0: no minimum',
    reached: "408 in the dialect's own shape, and the connection is closed",
  },
  bodyBytes: {
    argument: 'BYTES',
    fallback: 268_435_456,
    range: [1_024, 1_099_511_627_776],
    description: 'bytes of unfinished bodies of all authenticated callers',
    reached: "503 with Retry-After in the dialect's own shape",
  },
  anonymousBytes: {
    argument: 'BYTES',
    fallback: 16_777_216,
    range: [1_024, 1_099_511_627_776],
    description: 'bytes of bodies and frames of all unauthenticated peers',
    reached: "503 with Retry-After, or the dialect's error with a retry time",
  },
  requestsPerMinute: {
    argument: 'COUNT',
    fallback: 6_000,
    range: [1, 1_000_000],
    description: 'requests per minute of one caller to the copilot endpoints',
    reached: '429 RATE_LIMIT with Retry-After and retryAfter',
  },
  apiRequestsPerMinute: {
    argument: 'COUNT',
    fallback: 60_000,
    range: [1, 10_000_000],
    description:
      "requests per minute of one caller to the other HTTP endpoints, in bursts of up to one minute's worth",
    reached: "429 with Retry-After in the dialect's own shape",
  },
  toolCallWithin: {
    argument: 'MS',
    fallback: 50_000,
    range: [1, 3_600_000],
    description: 'how long a tool call of an MCP client waits for the agent; most clients give up after 60 s',
    reached: 'the call is answered with the status `running`, and the turn goes on',
  },

  // Sessions, turns and model responses.

  sessionsPerPrincipal: {
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 1_000_000_000],
    description: 'sessions per principal, without archived ones',
    reached: 'no new session is created; the fault `limited`: 429',
  },
  ephemeralIdle: {
    argument: 'MS',
    fallback: 600_000,
    range: [1, 2_592_000_000],
    description: 'how long an ephemeral session is kept that nobody uses: it does not run and is not watched',
    reached: 'the session and its events are erased',
  },
  cachedCharacters: {
    argument: 'CHARACTERS',
    fallback: 67_108_864,
    range: [0, 1_099_511_627_776],
    description: 'characters of sessions in memory that nobody uses; at most 200 sessions',
    reached: 'the least recently loaded one is dropped and read again when needed',
  },
  inputsQueued: {
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'inputs queued per session behind the running turn',
    reached: 'further inputs are refused; the fault `limited` with a retry time: 429',
  },
  turnsAtOnce: {
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'concurrent turns; turns that wait for an approval do not count',
    reached: 'further turns wait in order of arrival',
  },
  subAgents: {
    argument: 'COUNT',
    fallback: 8,
    range: [0, 100],
    description: 'sub-agents of one session that work at the same time; 0: agents have none',
    reached: 'the call fails and says so: the model waits for one of them',
  },
  turnsWaiting: {
    argument: 'COUNT',
    fallback: 1_000,
    range: [0, 1_000_000],
    description: 'turns that wait to run',
    reached:
      'new inputs are refused; the fault `overloaded` with a retry time: 503. Running turns continue; answers and cancels are accepted',
  },
  storedBytes: {
    argument: 'BYTES',
    fallback: 53_687_091_200,
    range: [1, 1_000_000_000_000_000],
    description: 'disk space of all sessions',
    reached:
      'new inputs and sessions are refused; the fault `overloaded` with a retry time: 503. Running turns finish; reading and archiving still work',
  },
  usageDays: {
    argument: 'COUNT',
    fallback: 400,
    range: [31, 10_000],
    description: 'how many days the usage of models is kept, as sums by day',
    reached: 'older sums are deleted',
  },
  answerCharacters: {
    argument: 'CHARACTERS',
    fallback: 4_000_000,
    range: [1_000, 100_000_000],
    description: 'characters of text and reasoning in one model response',
    reached: ANSWER_STOPPED,
  },
  argumentCharacters: {
    argument: 'CHARACTERS',
    fallback: 8_000_000,
    range: [1_000, 100_000_000],
    description: 'characters of all tool arguments in one model response',
    reached: ANSWER_STOPPED,
  },
  answerCalls: {
    argument: 'COUNT',
    fallback: 200,
    range: [1, 10_000],
    description: 'tool calls in one model response',
    reached: ANSWER_STOPPED,
  },
  maxDom: {
    argument: 'CHARACTERS',
    fallback: 1_000_000,
    range: [1_000, 100_000_000],
    description: 'maximum size of a page of a copilot client, in each of its forms',
    reached: '400 VALIDATION_ERROR with the field name',
  },

  // The commands that agents run.

  commandMemory: {
    argument: 'BYTES',
    fallback: Math.floor(0.75 * Math.min(totalmem(), process.constrainedMemory() || totalmem())),
    fallbackText: 'three quarters of the memory',
    range: [16_777_216, 1_000_000_000_000_000],
    description: 'memory of a command with all its processes; its /tmp can hold half of that',
    reached: COMMAND_STOPPED,
  },
  commandProcesses: {
    argument: 'COUNT',
    fallback: 4_096,
    range: [16, 1_000_000],
    description: 'processes and threads of a command at the same time',
    reached: COMMAND_STOPPED,
  },
  commandDisk: {
    argument: 'BYTES',
    fallback: 10_737_418_240,
    range: [1_048_576, 1_000_000_000_000_000],
    description:
      'disk space that is used up while a command runs; at most nine tenths of what was free when it started',
    reached: COMMAND_STOPPED,
  },

  // Checkpoints of the files that agents change.

  checkpointSpace: {
    argument: 'BYTES',
    fallback: 1_073_741_824,
    range: [0, 1_000_000_000_000_000],
    description:
      'disk space of the contents of all checkpoints, in the data folder; one working folder may have half as much in files; 0: no checkpoints',
    reached: 'the oldest checkpoints are removed; commands in a larger folder run without a checkpoint',
  },
  checkpointFiles: {
    argument: 'COUNT',
    fallback: 20_000,
    range: [1, 10_000_000],
    description: 'files and folders of a working folder that is checkpointed before a command',
    reached: 'commands in the folder run without a checkpoint, and say so; file tools have one',
  },
} satisfies Record<string, Limit>;

const words = (key: string): string[] => key.split(/(?=[A-Z])/).map((word) => word.toLowerCase());

/** `maxFrame` is PARLANCE_MAX_FRAME and `--max-frame`. */
export const LIMITS = Object.fromEntries(
  Object.entries<Limit>(TABLE).map(
    ([
      key,
      {
        range: [min, max],
        ...limit
      },
    ]): [string, LimitSetting] => [
      key,
      {
        ...limit,
        env: [`PARLANCE_${words(key).join('_').toUpperCase()}`],
        flag: `--${words(key).join('-')}`,
        schema: () => wholeNumber(min, max),
      },
    ],
  ),
) as Record<keyof typeof TABLE, LimitSetting>;
