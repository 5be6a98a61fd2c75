/** Limits of sessions, turns and model responses. */
import { type LimitSetting, limit } from './limit.ts';

const ANSWER_STOPPED =
  'the connection to the model is closed and the turn fails with `answer_too_long`; text shown so far is stored, no tool runs';

export const SESSION_LIMITS = {
  sessionsPerPrincipal: limit({
    env: 'PARLANCE_SESSIONS_PER_PRINCIPAL',
    flag: '--sessions-per-principal',
    argument: 'COUNT',
    fallback: 100_000,
    range: [1, 1_000_000_000],
    description: 'sessions per principal, without archived ones',
    reached: 'no new session is created; the fault `limited`: 429',
  }),
  ephemeralIdle: limit({
    env: 'PARLANCE_EPHEMERAL_IDLE',
    flag: '--ephemeral-idle',
    argument: 'MS',
    fallback: 600_000,
    range: [1, 2_592_000_000],
    description: 'how long an ephemeral session is kept that nobody uses: it does not run and is not watched',
    reached: 'the session and its events are erased',
  }),
  inputsQueued: limit({
    env: 'PARLANCE_INPUTS_QUEUED',
    flag: '--inputs-queued',
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'inputs queued per session behind the running turn',
    reached: 'further inputs are refused; the fault `limited` with a retry time: 429',
  }),
  turnsAtOnce: limit({
    env: 'PARLANCE_TURNS_AT_ONCE',
    flag: '--turns-at-once',
    argument: 'COUNT',
    fallback: 1_000,
    range: [1, 1_000_000],
    description: 'concurrent turns; turns that wait for an approval do not count',
    reached: 'further turns wait in order of arrival',
  }),
  turnsWaiting: limit({
    env: 'PARLANCE_TURNS_WAITING',
    flag: '--turns-waiting',
    argument: 'COUNT',
    fallback: 1_000,
    range: [0, 1_000_000],
    description: 'turns that wait to run',
    reached:
      'new inputs are refused; the fault `overloaded` with a retry time: 503. Running turns continue; answers and cancels are accepted',
  }),
  storedBytes: limit({
    env: 'PARLANCE_STORED_BYTES',
    flag: '--stored-bytes',
    argument: 'BYTES',
    fallback: 53_687_091_200,
    range: [1, 1_000_000_000_000_000],
    description: 'disk space of all sessions',
    reached:
      'new inputs and sessions are refused; the fault `overloaded` with a retry time: 503. Running turns finish; reading and archiving still work',
  }),
  answerCharacters: limit({
    env: 'PARLANCE_ANSWER_CHARACTERS',
    flag: '--answer-characters',
    argument: 'CHARACTERS',
    fallback: 4_000_000,
    range: [1_000, 100_000_000],
    description: 'characters of text and reasoning in one model response',
    reached: ANSWER_STOPPED,
  }),
  argumentCharacters: limit({
    env: 'PARLANCE_ARGUMENT_CHARACTERS',
    flag: '--argument-characters',
    argument: 'CHARACTERS',
    fallback: 8_000_000,
    range: [1_000, 100_000_000],
    description: 'characters of all tool arguments in one model response',
    reached: ANSWER_STOPPED,
  }),
  answerCalls: limit({
    env: 'PARLANCE_ANSWER_CALLS',
    flag: '--answer-calls',
    argument: 'COUNT',
    fallback: 200,
    range: [1, 10_000],
    description: 'tool calls in one model response',
    reached: ANSWER_STOPPED,
  }),
  maxDom: limit({
    env: 'PARLANCE_MAX_DOM',
    flag: '--max-dom',
    argument: 'CHARACTERS',
    fallback: 1_000_000,
    range: [1_000, 100_000_000],
    description: 'maximum size of a page of a copilot client, in each of its forms',
    reached: '400 VALIDATION_ERROR with the field name',
  }),
} as const satisfies Record<string, LimitSetting>;
